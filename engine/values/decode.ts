import type { AnySchema, Route } from '@orpc/contract'
import { getDynamicParams } from '@orpc/openapi-client/standard'
import { isObject } from '@orpc/shared'
import { z } from 'zod'

import { type Decode, hasNoComma, leafDecoder } from './leaves.ts'
import { definitionOf, isPreprocessed, isZod, partsOf, type Schema, typesOf } from './schema.ts'

// Decodes inputs by their schemas. The text of a path or query becomes the number, boolean, list and so on of the schema. In
// JSON, only the types that JSON lacks are converted: the text "2" is no number in a body. A value that does not fit is
// returned unchanged, so that the validation refuses the value.

/** Where a value is in a request. */
interface Place {
  /** Whether numbers, booleans and times arrive as text. */
  isText: boolean
  /** The properties that arrive as text although the others do not: the parameters of a path. */
  textProperties: readonly string[]
}

/** A parameter of a path or query, or a part of one. */
const PARAMETER: Place = { isText: true, textProperties: [] }
/** A whole query, which unlike a parameter is never absent, and never a list. */
const QUERY: Place = { isText: true, textProperties: [] }
const JSON_VALUE: Place = { isText: false, textProperties: [] }

/** Creates the decoder of an input in JSON. Undefined if nothing must be converted. */
export const createJsonDecoder = (schema: AnySchema | undefined) =>
  isZod(schema) ? findDecoder(schema, JSON_VALUE, new Map()) : undefined

/** Creates the decoder of an input over REST: parameters of the path, and the query or the body. */
export function createRestDecoder(
  schema: AnySchema | undefined,
  { method, path, inputStructure }: Route,
): Decode | undefined {
  if (!isZod(schema)) return undefined
  if (inputStructure === 'detailed')
    return findDecoder(schema, { isText: false, textProperties: ['params', 'query', 'headers'] }, new Map())
  const textProperties = (getDynamicParams(path) ?? []).map(({ name }) => name)
  return findDecoder(schema, method === 'GET' ? QUERY : { isText: false, textProperties }, new Map())
}

/** The decoders of one input. A decoder is undefined while it is created: a schema can contain itself. */
type Decoders = Map<Place, Map<Schema, { decode: Decode | undefined }>>

/** Finds or creates the decoder of a schema. Undefined if nothing must be converted. */
function findDecoder(schema: Schema, place: Place, decoders: Decoders): Decode | undefined {
  if (!isDecoded(schema, place)) return undefined
  const ofPlace = decoders.get(place) ?? new Map<Schema, { decode: Decode | undefined }>()
  decoders.set(place, ofPlace)
  const found = ofPlace.get(schema)
  if (found) return (value) => apply(found.decode, value)
  const entry: { decode: Decode | undefined } = { decode: undefined }
  ofPlace.set(schema, entry)
  entry.decode = createDecoder(schema, place, decoders)
  return entry.decode
}

/** The types whose empty value (`[]`, `{}` or null) a query cannot express. See `emptyValueOf`. */
const TYPES_WITH_EMPTY_VALUE = ['array', 'tuple', 'object', 'record', 'nullable', 'null']

/** Returns whether a schema, or a schema inside it, converts values. Searches a schema that contains itself once. */
function isDecoded(schema: Schema, place: Place, seen = new Map<Place, Set<Schema>>()): boolean {
  const schemas = seen.get(place) ?? new Set()
  seen.set(place, schemas)
  if (schemas.has(schema)) return false
  schemas.add(schema)
  const { type } = definitionOf(schema)
  // The function of `z.preprocess` receives the value as the protocol sends it.
  if (isPreprocessed(schema)) return false
  return (
    ['set', 'map'].includes(type) ||
    (place === PARAMETER && TYPES_WITH_EMPTY_VALUE.includes(type)) ||
    leafDecoder(schema, place.isText) !== undefined ||
    partsOf(schema, 'input').some((part) =>
      isDecoded(part.schema, part.name === undefined ? place : placeIn(place, part.name), seen),
    )
  )
}

/** Returns the place of a property, or of the items (`*`). */
const placeIn = ({ isText, textProperties }: Place, name: string) =>
  isText || textProperties.includes(name) ? PARAMETER : JSON_VALUE

function createDecoder(schema: Schema, place: Place, decoders: Decoders): Decode | undefined {
  const def = definitionOf(schema)
  /** The decoder of a schema for the same value, for example of an option of a union. */
  const wholeDecoder = (other: Schema) => findDecoder(other, place, decoders)
  const itemDecoder = (item: Schema) => findDecoder(item, placeIn(place, '*'), decoders)
  switch (def.type) {
    case 'object':
      return objectDecoder(def, place, decoders)
    case 'record':
      return recordDecoder(itemDecoder(def.valueType))
    case 'array':
      return listDecoder(itemDecoder(def.element), place, def.element)
    case 'tuple': {
      const ofItems = def.items.map(itemDecoder)
      const ofRest = def.rest ? itemDecoder(def.rest) : undefined
      return tupleDecoder((index) => (index < ofItems.length ? ofItems[index] : ofRest), place)
    }
    case 'set': {
      const decode = listDecoder(itemDecoder(def.valueType), place, def.valueType)
      return (value) => toSet(decode(value))
    }
    case 'map': {
      const ofPair = [itemDecoder(def.keyType), itemDecoder(def.valueType)]
      const decodePair = tupleDecoder((index) => ofPair[index], place)
      const decode = tupleDecoder(() => decodePair, place)
      return (value) => toMap(decode(value))
    }
    case 'union':
      return unionDecoder(
        def.options.map((option) => ({ schema: option, decode: wholeDecoder(option) })),
        'discriminator' in def ? String(def.discriminator) : undefined,
      )
    case 'intersection': {
      const [left, right] = [wholeDecoder(def.left), wholeDecoder(def.right)]
      return (value) => apply(right, apply(left, value))
    }
    default: {
      const [part] = partsOf(schema, 'input')
      return part ? wholeDecoder(part.schema) : leafDecoder(schema, place.isText)
    }
  }
}

const apply = (decode: Decode | undefined, value: unknown) => (decode ? decode(value) : value)

/**
 * Returns the value of an absent parameter. A query cannot express an empty list, an empty object or null. Therefore, a parameter
 * that is absent but required has this value. Undefined if the parameter is optional, or if its type has no empty value.
 */
function emptyValueOf(schema: Schema): unknown {
  const types = typesOf(schema, 'input')
  if (isPreprocessed(schema) || schema._zod.optin === 'optional' || types.has('undefined')) return undefined
  if (types.has('null')) return null
  const [type = '', ...others] = types
  if (others.length > 0) return undefined
  return { array: [], set: [], map: [], tuple: [], object: {}, record: {} }[type]
}

function objectDecoder({ shape, catchall }: z.core.$ZodObjectDef, place: Place, decoders: Decoders): Decode {
  const properties = Object.entries(shape).map(([name, schema]) => ({
    name,
    decode: findDecoder(schema, placeIn(place, name), decoders),
    // A parameter of a path is never absent.
    whenAbsent: place.isText ? emptyValueOf(schema) : undefined,
  }))
  const decodeOther = catchall && findDecoder(catchall, placeIn(place, '*'), decoders)
  return (value) => {
    const object = place === PARAMETER ? listToObject(value) : value
    if (!isObject(object)) return value
    const changed = properties.flatMap(({ name, decode, whenAbsent }) => {
      const raw = Object.hasOwn(object, name) ? object[name] : whenAbsent
      const decoded = raw === undefined ? undefined : apply(decode, raw)
      return decoded === object[name] ? [] : [[name, decoded] as const]
    })
    const others = decodeOther
      ? Object.entries(object).flatMap(([name, raw]) =>
          Object.hasOwn(shape, name) ? [] : [[name, decodeOther(raw)] as const],
        )
      : []
    return changed.length + others.length > 0
      ? { ...object, ...Object.fromEntries([...changed, ...others]) }
      : object
  }
}

const recordDecoder =
  (decode: Decode | undefined): Decode =>
  (value) => {
    const object = listToObject(value)
    return isObject(object)
      ? Object.fromEntries(Object.entries(object).map(([name, raw]) => [name, apply(decode, raw)]))
      : value
  }

/** Returns a list as an object: the codec of REST reads an object with the names 0 and 1 as a list. */
const listToObject = (value: unknown) =>
  Array.isArray(value) ? Object.fromEntries(Object.entries(value as unknown[])) : value

/**
 * Decodes lists. In a query, a text is a list too: of several items between commas if no item can contain a comma, otherwise of one
 * item.
 */
function listDecoder(decodeItem: Decode | undefined, { isText }: Place, item: Schema): Decode {
  const hasCommas = isText && hasNoComma(item)
  return (value) => {
    const list = isText && typeof value === 'string' ? (hasCommas ? value.split(',') : [value]) : value
    return Array.isArray(list) ? list.map((raw: unknown) => apply(decodeItem, raw)) : value
  }
}

/** Decodes lists whose items have different decoders. In a query, a text is a list with one item. */
const tupleDecoder =
  (decoderAt: (index: number) => Decode | undefined, { isText }: Place): Decode =>
  (value) => {
    const list = isText && typeof value === 'string' ? [value] : value
    return Array.isArray(list) ? list.map((raw: unknown, index) => apply(decoderAt(index), raw)) : value
  }

/** The OpenAPI document requires different items. A list with equal items stays a list, which the validation refuses. */
function toSet(list: unknown) {
  const set = Array.isArray(list) ? new Set<unknown>(list) : undefined
  return set && Array.isArray(list) && set.size === list.length ? set : list
}

/** A list with other items than pairs, or with equal keys, stays a list, which the validation refuses. */
function toMap(list: unknown) {
  if (!Array.isArray(list) || !list.every((pair) => Array.isArray(pair) && pair.length === 2)) return list
  const map = new Map(list as [unknown, unknown][])
  return map.size === list.length ? map : list
}

interface UnionOption {
  schema: Schema
  decode: Decode | undefined
}

/**
 * Decodes a value as the option that the discriminator names, otherwise as the first option that accepts the decoded value.
 * Options that convert precede the others: in a union of numbers and texts, the text 7 of a query is the number 7.
 */
function unionDecoder(options: readonly UnionOption[], discriminator: string | undefined): Decode {
  const ordered = [...options.filter(({ decode }) => decode), ...options.filter(({ decode }) => !decode)]
  return (value) => {
    const named =
      discriminator !== undefined && isObject(value)
        ? options.find(({ schema }) =>
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

/** Returns whether a schema accepts a value. Schemas with asynchronous checks throw here: their values count as valid. */
function isValid(schema: Schema, value: unknown) {
  try {
    return z.core.safeParse(schema, value).success
  } catch {
    return true
  }
}
