import { getDynamicParams } from '@orpc/openapi-client/standard'
import {
  type AnyContractRouter,
  type AnySchema,
  getEventIteratorSchemaDetails,
  type Route,
} from '@orpc/contract'
import { traverseContractProcedures } from '@orpc/server'
import type { Meta } from 'tallystick-contract'
import { z } from 'zod'

import {
  classOf,
  definitionOf,
  isCarriedClass,
  isTransform,
  isZod,
  partsOf,
  type Schema,
  someSchema,
  typesOf,
} from '../../../values/schema.ts'

/** Where a value is in a call. Parameters of a path and of a query are texts; a body, a tool and an output are JSON. */
type Place = 'path' | 'query' | 'body' | 'output'

/** The types that a protocol cannot carry, each with the reason. The table in docs/your-own-backend.md lists the same. */
export const refusals = {
  file: 'no protocol carries files; accept the URL of the file, or its content as `z.base64()`',
  function: 'JSON has no functions, symbols and promises',
  nan: 'JSON has no NaN; use `.nullable()`',
  custom: 'the type of the value is unknown; use another schema, or declare the type: `.meta({ type: … })`',
  undefined: 'JSON has no undefined; use `.optional()`',
  undefinedItem: 'a list in JSON has no undefined; use `.nullable()`',
  root: 'an input is an object over REST; use `z.object({ … })`',
  unknownInQuery: 'a query has only texts, so the schema must name the type',
  nullItemInQuery: 'a list in a query has no null',
  nullInQuery: 'a query does not distinguish null from an absent value; use `.nullable()` or `.optional()`',
  path: 'a parameter of a path is one text, number, boolean or date',
  transformedAnswer:
    'an answer that is stored for `Idempotency-Key` is checked again, so its schema must not transform it',
  toolProperty: 'Claude accepts only names with 1 to 64 letters, digits, `_`, `.` and `-` in tools',
} as const

type Refusal = keyof typeof refusals

const FUNCTIONS = ['function', 'symbol', 'promise']
const STRUCTURED = ['object', 'record', 'array', 'set', 'map', 'tuple']
const ANY = ['unknown', 'any']
/** A parameter of a path always has a value. */
const ABSENT = ['nullable', 'null', 'optional', 'default', 'prefault']
const TOOL_PROPERTY = /^[\w.-]{1,64}$/

/** Returns the reason why a type cannot be in a place, without its parts. */
function refusalOf(schema: Schema, place: Place): Refusal | undefined {
  const { type } = definitionOf(schema)
  if (type === 'file' || type === 'nan') return type
  if (FUNCTIONS.includes(type)) return 'function'
  if (type === 'custom' && !isCarriedClass(classOf(schema))) return 'custom'
  if (place !== 'output' && ['undefined', 'void'].includes(type)) return 'undefined'
  if (place === 'query' && ANY.includes(type)) return 'unknownInQuery'
  if (place === 'path' && [...STRUCTURED, ...ANY, ...ABSENT].includes(type)) return 'path'
  return undefined
}

/** Returns the reason why a property or item with a type cannot be in a place. */
function refusalOfPart(parent: Schema, part: Schema, place: Place): Refusal | undefined {
  const types = typesOf(part, place === 'output' ? 'output' : 'input')
  const isItem = definitionOf(parent).type !== 'object'
  if (['array', 'set', 'map'].includes(definitionOf(parent).type) && types.has('undefined'))
    return 'undefinedItem'
  if (place !== 'query' || !types.has('null')) return undefined
  if (isItem) return 'nullItemInQuery'
  return types.has('undefined') || part._zod.optin === 'optional' ? 'nullInQuery' : undefined
}

/** The paths of the types that cannot be in a place, each with the reason. */
type Found = Map<string, Refusal>

interface Walk {
  found: Found
  seen: Map<Schema, Set<Place>>
  /** The place of the properties of the input with these names. */
  places: Readonly<Record<string, Place>>
}

function walk(schema: Schema, path: readonly string[], place: Place, { found, seen, places }: Walk) {
  // The declared type replaces the type of the schema.
  if (seen.get(schema)?.has(place) || z.globalRegistry.get(schema)?.type !== undefined) return
  seen.set(schema, new Set([...(seen.get(schema) ?? []), place]))
  const refuse = (at: readonly string[], reason: Refusal | undefined) => {
    if (reason && !found.has(at.join('.'))) found.set(at.join('.'), reason)
  }
  const refusal = refusalOf(schema, place)
  refuse(path, refusal)
  if (refusal) return
  for (const { schema: part, name } of partsOf(schema, place === 'output' ? 'output' : 'input')) {
    if (name === undefined) {
      walk(part, path, place, { found, seen, places })
      continue
    }
    const inner = places[name] ?? place
    refuse([...path, name], refusalOfPart(schema, part, inner))
    walk(part, [...path, name], inner, { found, seen, places: {} })
  }
}

/** The types of an input. A default or `.optional()` also accepts an absent input. */
const ROOT = ['object', 'record', 'undefined', ...ANY]

interface Definition {
  inputSchema?: AnySchema
  outputSchema?: AnySchema
  route: Route
  meta: Meta
}

function refusalsOfInput(schema: Schema, { route, meta }: Definition): Found {
  const { method, path, inputStructure } = route
  const place = method === 'GET' && inputStructure !== 'detailed' ? 'query' : 'body'
  const inPath = (getDynamicParams(path) ?? []).map(({ name }) => [name, 'path'] as const)
  const places: Walk['places'] =
    inputStructure === 'detailed' ? { query: 'query', headers: 'query' } : Object.fromEntries(inPath)
  const found: Found = new Map()
  walk(schema, ['input'], place, { found, seen: new Map(), places })
  if (found.size === 0 && ![...typesOf(schema, 'input')].every((type) => ROOT.includes(type)))
    found.set('input', 'root')
  if (meta.tool)
    someSchema(schema, (part) => {
      for (const { name } of partsOf(part, 'input'))
        if (name !== undefined && name !== '*' && !TOOL_PROPERTY.test(name))
          found.set(`input.${name}`, 'toolProperty')
      return false
    })
  return found
}

function refusalsOfOutput(schema: Schema, { meta }: Definition): Found {
  const found: Found = new Map()
  walk(schema, ['output'], 'output', { found, seen: new Map(), places: {} })
  if (meta.idempotencyKey && someSchema(schema, isTransform)) found.set('output', 'transformedAnswer')
  return found
}

/** Returns a sentence for each type in the inputs and outputs of a contract that a protocol cannot carry. */
export function mistakesOfTypes(contract: AnyContractRouter) {
  const mistakes: string[] = []
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
    const definition = procedure['~orpc'] as Definition
    const { inputSchema, outputSchema } = definition
    const output = getEventIteratorSchemaDetails(outputSchema)?.yields ?? outputSchema
    const all = [
      ...(isZod(inputSchema) ? refusalsOfInput(inputSchema, definition) : []),
      ...(isZod(output) ? refusalsOfOutput(output, definition) : []),
    ]
    for (const [at, refusal] of all)
      mistakes.push(`${path.join('.')}: ${at} cannot be sent: ${refusals[refusal]}`)
  })
  return mistakes
}
