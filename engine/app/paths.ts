/**
 * A path with segments of unreserved characters (RFC 3986, section 2.3), or with parameters. No segment is `.` or `..`, which clients
 * remove.
 */
export const PATH = /^(?:\/(?!\.{1,2}(?:\/|$))(?:[\w.~-]+|\{[a-z]\w*\}))+$/i

const PARAMETER = /\{\+?(\w+)\}/g

const segmentsOf = (path: string) => path.split('/').slice(1)

/** Returns a path without the names of its parameters, which requests do not contain. */
const withoutNames = (path: string) => path.replace(PARAMETER, '{}')
const isParameter = (segment: string) => segment.startsWith('{')

/** Returns the names of the parameters in a path, in their order. */
export const parametersOf = (path: string) => Array.from(path.matchAll(PARAMETER), ([, name = '']) => name)

/** Returns whether a path of a request has the form of a path with parameters. */
export function matchesPath(requested: string, path: string) {
  const [values, segments] = [segmentsOf(requested), segmentsOf(path)]
  return (
    values.length === segments.length &&
    segments.every((segment, index) =>
      isParameter(segment) ? values[index] !== '' : values[index] === segment,
    )
  )
}

/** Returns whether two paths answer the same requests, so that only their methods can distinguish them. */
export const isSamePlace = (one: string, other: string) => withoutNames(one) === withoutNames(other)

/**
 * Returns whether a path would take requests for another path. A more specific path is permitted, because it takes only one value of
 * a parameter: `/api/books/export` beside `/api/books/{id}`.
 */
export function hidesPath(path: string, other: string) {
  const [own, others] = [segmentsOf(path), segmentsOf(other)]
  /** The segments of both paths at the same position. */
  const pairs = own.map((mine, index) => [mine, others[index] ?? ''] as const)
  const overlaps =
    own.length === others.length &&
    pairs.every(
      ([mine, theirs]) => mine === theirs || isParameter(theirs) || (isParameter(mine) && theirs !== ''),
    )
  const isMoreSpecific =
    pairs.every(([mine, theirs]) => !isParameter(mine) || isParameter(theirs)) &&
    pairs.some(([mine, theirs]) => !isParameter(mine) && isParameter(theirs))
  return overlaps && !isMoreSpecific
}

/** Returns whether a path, or its beginning with as many segments as another path, would take requests for the other path. */
export const isWithin = (path: string, other: string) =>
  hidesPath(path.split('/').slice(0, other.split('/').length).join('/'), other)
