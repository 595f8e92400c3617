import { isId, toId } from 'tallystick-contract/internal'

/** Returns a sentence for each name that cannot be a part of URIs, metrics or cookies. */
export function mistakesOfNames(name: string, id: string, cookiePrefix: string) {
  const isDerived = id === toId(name)
  return [
    ...(isId(id)
      ? []
      : [
          isDerived
            ? `The name ${name} must begin with a letter from A to Z, or the application needs an \`id\``
            : `The id ${id} must consist of lower-case letters, digits and single hyphens, and begin with a letter`,
        ]),
    ...(isId(cookiePrefix) ? [] : [`The prefix of cookies ${cookiePrefix} must have the form of an id`]),
  ]
}
