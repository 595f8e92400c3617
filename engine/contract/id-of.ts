/** Returns the name of an application for URIs, files and metrics: lower-case letters, digits and hyphens. */
export const idOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
