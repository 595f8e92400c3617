import { parse } from 'content-type'

/** One element of an `Accept` header (RFC 9110, section 12.5.1), for example `text/*;q=0.5`. */
interface MediaRange {
  /** In lower case. */
  type: string
  parameters: Record<string, string>
  /** 0 (not acceptable) to 1. An invalid weight is 0. */
  weight: number
}

/** Maximum number of elements of a header that the service evaluates. Browsers send about ten. */
const MAX_ELEMENTS = 50

/** Maximum length of these elements in total, in characters. One element can have thousands of parameters. */
const MAX_LENGTH = 4096

/** Returns the first MAX_ELEMENTS elements of a header. */
export const firstElements = (header: string) => header.split(',', MAX_ELEMENTS).join()

/** Returns the elements of a header that are complete within MAX_LENGTH characters. */
const shorten = (header: string) =>
  header.length > MAX_LENGTH ? header.slice(0, header.lastIndexOf(',', MAX_LENGTH) + 1) : header

/** Parses an `Accept` header. Returns its first elements, at most MAX_ELEMENTS, in the order of the header. */
export function parseAccept(header: string): MediaRange[] {
  const accept = shorten(header)
  const ranges: MediaRange[] = []
  for (let start = 0, count = 0; start < accept.length && count < MAX_ELEMENTS; count++) {
    const { type, parameters: all, index } = parse(accept, { comma: true, start })
    const { q = '1', ...parameters } = all
    const weight = Number(q)
    if (type !== '') ranges.push({ type, parameters, weight: weight > 0 && weight <= 1 ? weight : 0 })
    start = index + 1
  }
  return ranges
}

/**
 * Selects the media type with the greatest weight in an `Accept` header. Of types with equal weights, a type that the
 * header names precedes a type that only a wildcard matches; after this rule, the order of `types` decides. Returns
 * undefined if no type is acceptable.
 */
export function preferredMediaType(accept: string, types: readonly string[]) {
  const ranges = parseAccept(accept)
  const [best] = types
    .map((type) => ({ type, ...rangeOf(type, ranges) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || Number(b.isNamed) - Number(a.isNamed))
  return best?.type
}

/** Returns the weight of a media type: the weight of the most specific element that matches the type. */
function rangeOf(mediaType: string, ranges: readonly MediaRange[]) {
  const { type, parameters } = parse(mediaType)
  const patterns = ['*/*', type.replace(/\/.*/, '/*'), type]
  const [best] = ranges
    .map((range) => ({
      ...range,
      level: patterns.indexOf(range.type),
      count: Object.keys(range.parameters).length,
    }))
    .filter(
      (range) =>
        range.level >= 0 &&
        Object.entries(range.parameters).every(([name, value]) => parameters[name] === value),
    )
    .sort((a, b) => b.level - a.level || b.count - a.count)
  return { weight: best?.weight ?? 0, isNamed: best?.type === type }
}

/** The supported content codings, by preference. */
export const codings = ['br', 'gzip'] as const
export type Coding = (typeof codings)[number]

/**
 * Selects the content coding with the greatest weight in an `Accept-Encoding` header. Of codings with equal weights, the
 * first of `codings` is selected. Returns undefined if the client accepts none, or prefers an answer without coding.
 */
export function preferredCoding(acceptEncoding: string): Coding | undefined {
  const weights = new Map(parseAccept(acceptEncoding).map(({ type, weight }) => [type, weight]))
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0
  const best = codings.reduce((one, other) => (weightOf(other) > weightOf(one) ? other : one))
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined
}
