/** Converts the name of an application to an id. The result is no id if it does not begin with a letter, for example for `2 Books`. */
export const toId = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

/** Ids are in URIs, in names of files, metrics and cookies, and in package.json. */
export const isId = (id: string) => /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(id)
