import type { AnySchema, Route } from '@orpc/contract'
import { getDynamicParams } from '@orpc/openapi-client/standard'
import { isObject } from '@orpc/shared'
import { z } from 'zod'

import { type Decode, hasPlainItems, leafDecoder } from './leaves.ts'
import { definitionOf, isPreprocessed, isZod, partsOf, type Schema, typesOf } from './schema.ts'

// Decodes inputs by their schemas. The text of a path or query becomes the number, boolean, list and so on of the schema. In
// JSON, only the types that JSON lacks are converted: the text "2" is no number in a body. A value that does not fit is
// returned unchanged, so that the validation refuses the value.

/** How the parts of a value arrive. */
interface Place {
  isText: boolean
  /** The properties that arrive as text although the others do not: the parameters of a path. */
  texts: readonly string[]
}

/** A part of a path or query. A whole query has another place, because the whole is neither absent nor a list. */
const TEXT: Place = { isText: true, texts: [] }
const JSON_VALUE: Place = { isText: false, texts: [] }

/** Creates the decoder of an input in JSON. Undefined if nothing must be converted. */
export const createJsonDecoder = (schema: AnySchema | undefined) =>
  isZod(schema) ? decoderOf(schema, JSON_VALUE, new Map()) : undefined

/** Creates the decoder of an input over REST: parameters of the path, and the query or the body. */
export function createRestDecoder(
  schema: AnySchema | undefined,
  { method, path, inputStructure }: Route,
): Decode | undefined {
  if (!isZod(schema)) return undefined
  const place =
    inputStructure === 'detailed'
      ? { isText: false, texts: ['params', 'query', 'headers'] }
      : { isText: method === 'GET', texts: (getDynamicParams(path) ?? []).map(({ name }) => name) }
  return decoderOf(schema, place, new Map())
}

/** The decoders that are being created, because a schema can contain itself. */
type Known = Map<Place, Map<Schema, { decode?: Decode | undefined }>>

function decoderOf(schema: Schema, place: Place, known: Known): Decode | undefined {
  if (!isDecoded(schema, place)) return undefined
  const decoders = known.get(place) ?? new Map<Schema, { decode?: Decode | undefined }>()
  known.set(place, decoders)
  const found = decoders.get(schema)
  if (found) return (value) => found.decode?.(value) ?? value
  const entry: { decode?: Decode | undefined } = {}
  decoders.set(schema, entry)
  entry.decode = createDecoder(schema, place, known)
  return entry.decode
}

/** The types with an empty value, which a query cannot express: without a value, the empty one is meant. */
const ABSENT = ['array', 'tuple', 'object', 'record', 'nullable', 'null']

/** Returns whether a schema, or a schema inside it, converts values. Searches a schema that contains itself once. */
function isDecoded(schema: Schema, place: Place, seen = new Map<Place, Set<Schema>>()): boolean {
  const schemas = seen.get(place) ?? new Set()
  seen.set(place, schemas)
  if (schemas.has(schema)) return false
  schemas.add(schema)
  const def = definitionOf(schema)
  // The function of `z.preprocess` receives the value as the protocol sends it.
  if (isPreprocessed(schema)) return false
  return (
    ['set', 'map', ...(place === TEXT ? ABSENT : [])].includes(def.type) ||
    leafDecoder(schema, place.isText) !== undefined ||
    partsOf(schema, 'input').some((part) =>
      isDecoded(part.schema, part.name === undefined ? place : placeIn(place, part.name), seen),
    )
  )
}

const placeIn = ({ isText, texts }: Place, name: string) =>
  isText || texts.includes(name) ? TEXT : JSON_VALUE

function createDecoder(schema: Schema, place: Place, known: Known): Decode | undefined {
  const def = definitionOf(schema)
  const same = (part: Schema) => decoderOf(part, place, known)
  const inside = (part: Schema) => decoderOf(part, placeIn(place, '*'), known)
  switch (def.type) {
    case 'object':
      return objectDecoder(def, place, known)
    case 'record':
      return recordDecoder(inside(def.valueType))
    case 'array':
      return listDecoder(() => inside(def.element), place.isText, place.isText && hasPlainItems(def.element))
    case 'tuple':
      return listDecoder((index) => {
        const item = def.items[index] ?? def.rest
        return item ? inside(item) : undefined
      }, place.isText)
    case 'set': {
      const decode = listDecoder(
        () => inside(def.valueType),
        place.isText,
        place.isText && hasPlainItems(def.valueType),
      )
      return (value) => toSet(decode(value))
    }
    case 'map': {
      const decoders = [inside(def.keyType), inside(def.valueType)]
      const pair = listDecoder((index) => decoders[index], place.isText)
      const decode = listDecoder(() => pair, place.isText)
      return (value) => toMap(decode(value))
    }
    case 'union':
      return unionDecoder(def.options, 'discriminator' in def ? String(def.discriminator) : undefined, same)
    case 'intersection': {
      const [left, right] = [same(def.left), same(def.right)]
      return (value) => apply(right, apply(left, value))
    }
    default: {
      const [part] = partsOf(schema, 'input')
      return part ? same(part.schema) : leafDecoder(schema, place.isText)
    }
  }
}

const apply = (decode: Decode | undefined, value: unknown) => (decode ? decode(value) : value)

/** A query cannot contain an empty list or null: the absent value of a required part is the empty one. */
function absentOf(schema: Schema): unknown {
  const types = typesOf(schema, 'input')
  if (isPreprocessed(schema) || schema._zod.optin === 'optional' || types.has('undefined')) return undefined
  if (types.has('null')) return null
  const [type = '', ...others] = types
  if (others.length > 0) return undefined
  return { array: [], set: [], map: [], tuple: [], object: {}, record: {} }[type]
}

function objectDecoder({ shape, catchall }: z.core.$ZodObjectDef, place: Place, known: Known): Decode {
  const members = Object.entries(shape).map(([name, schema]) => {
    const inner = placeIn(place, name)
    // A parameter of a path is never absent.
    return {
      name,
      decode: decoderOf(schema, inner, known),
      absent: place.isText ? absentOf(schema) : undefined,
    }
  })
  const others = catchall && decoderOf(catchall, placeIn(place, '*'), known)
  return (value) => {
    const given = place === TEXT ? withoutIndices(value) : value
    if (!isObject(given)) return value
    const changes = members.flatMap(({ name, decode, absent }) => {
      const raw = Object.hasOwn(given, name) ? given[name] : absent
      const decoded = raw === undefined ? undefined : apply(decode, raw)
      return decoded === given[name] ? [] : [[name, decoded] as const]
    })
    const rest = others
      ? Object.entries(given).flatMap(([name, part]) =>
          Object.hasOwn(shape, name) ? [] : [[name, others(part)] as const],
        )
      : []
    return changes.length + rest.length > 0
      ? { ...given, ...Object.fromEntries([...changes, ...rest]) }
      : given
  }
}

/** The codec of REST reads an object with the names 0 and 1 as a list. */
const withoutIndices = (value: unknown) =>
  Array.isArray(value) ? Object.fromEntries(Object.entries(value as unknown[])) : value

const recordDecoder =
  (decode: Decode | undefined): Decode =>
  (value) => {
    const given = withoutIndices(value)
    return isObject(given)
      ? Object.fromEntries(Object.entries(given).map(([name, part]) => [name, apply(decode, part)]))
      : value
  }

/** In a query, one value is a list with this value, or several values with commas if no item can contain a comma. */
const listDecoder =
  (decoderAt: (index: number) => Decode | undefined, isText: boolean, hasCommas = false): Decode =>
  (value) => {
    const list = isText && typeof value === 'string' ? (hasCommas ? value.split(',') : [value]) : value
    return Array.isArray(list) ? list.map((item: unknown, index) => apply(decoderAt(index), item)) : value
  }

/** The document requires different items, so a list with equal items is refused. */
function toSet(list: unknown) {
  const set = Array.isArray(list) ? new Set<unknown>(list) : undefined
  return set && Array.isArray(list) && set.size === list.length ? set : list
}

function toMap(list: unknown) {
  if (!Array.isArray(list) || !list.every((pair) => Array.isArray(pair) && pair.length === 2)) return list
  const map = new Map(list as [unknown, unknown][])
  return map.size === list.length ? map : list
}

/**
 * Decodes a value as the first option that accepts the decoded value. Options that convert precede the others: in a union of
 * numbers and texts, the text 7 of a query is the number 7.
 */
function unionDecoder(
  options: readonly Schema[],
  discriminator: string | undefined,
  decoderOfOption: (option: Schema) => Decode | undefined,
): Decode {
  const all = options.map((schema) => ({ schema, decode: decoderOfOption(schema) }))
  const ordered = [...all.filter(({ decode }) => decode), ...all.filter(({ decode }) => !decode)]
  return (value) => {
    const named =
      discriminator !== undefined && isObject(value)
        ? all.find(({ schema }) =>
            schema._zod.propValues?.[discriminator]?.has(value[discriminator] as never),
          )
        : undefined
    if (named) return apply(named.decode, value)
    for (const { schema, decode } of ordered) {
      const decoded = apply(decode, value)
      if (isValid(schema, decoded)) return decoded
    }
    return value
  }
}

/** A schema with asynchronous checks throws an error, and then counts as valid. */
function isValid(schema: Schema, value: unknown) {
  try {
    return z.core.safeParse(schema, value).success
  } catch {
    return true
  }
}
