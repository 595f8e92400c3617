import { findSimilarNames } from '../../../values/similar-names.ts'

/** Returns `; did you mean loans?` if a known name resembles a name. Returns an empty text otherwise. */
export function suggest(name: string, names: Iterable<string>) {
  const [closest] = findSimilarNames(name, names)
  return closest === undefined ? '' : `; did you mean ${closest}?`
}
