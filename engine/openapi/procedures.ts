import {
  type AnyContractRouter,
  type AnySchema,
  type ErrorMap,
  getEventIteratorSchemaDetails,
  type Route,
} from '@orpc/contract'
import { traverseContractProcedures } from '@orpc/server'
import {
  isOfEngine,
  type Meta,
  requestSchemas,
  type RateLimit,
  responseSchemas,
} from 'tallystick-contract/internal'

import { isZod } from '../values/schema.ts'
import { schemaConverter } from './document.ts'
import { describeUndefinedError, exampleOf } from './openapi-errors.ts'
import { hasPublicTopics } from './openapi-operation.ts'
import type { ProcedureDescription } from './procedure-description.ts'

/** The parts of a procedure that a description has. oRPC gives them the type `any`. */
interface Definition {
  route: Route
  errorMap: ErrorMap
  meta: Meta
  inputSchema?: AnySchema
  outputSchema?: AnySchema
}

/** Describes the procedures of a contract in its order, those of the application before those of the engine. */
export function describeProcedures(contract: AnyContractRouter): ProcedureDescription[] {
  const found: ProcedureDescription[] = []
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
    found.push(describe(procedure['~orpc'] as Definition, path))
  })
  return found.sort((a, b) => compareResources(a.resource, b.resource))
}

/** Orders the resources of the application before those of the engine. */
export const compareResources = (a: string, b: string) => Number(isOfEngine(a)) - Number(isOfEngine(b))

function describe(definition: Definition, path: readonly string[]): ProcedureDescription {
  const { route, inputSchema, outputSchema, errorMap, meta } = definition
  const operation = path.join('.')
  const events = getEventIteratorSchemaDetails(outputSchema)
  return {
    operation,
    resource: path[0] ?? '',
    summary: route.summary ?? operation,
    description: route.description ?? meta.tool?.description ?? '',
    method: route.method ?? 'POST',
    path: route.path ?? `/${path.join('/')}`,
    mediaType: meta.alternative?.mediaType ?? null,
    access: accessOf(meta),
    scope: meta.scope ?? null,
    tool: meta.tool ? path.join('_') : null,
    isStream: events !== undefined,
    headers: [
      ...(meta.idempotencyKey ? (['Idempotency-Key'] as const) : []),
      ...(meta.ifMatch ? (['If-Match'] as const) : []),
    ],
    rateLimit: meta.rateLimit ? describeLimit(meta.rateLimit) : null,
    errors: [
      ...describeErrors(errorMap),
      // The number of open streams has a limit, too.
      ...(meta.rateLimit || events ? [describeUndefinedError(429)] : []),
    ],
    input: toJsonSchema(inputSchema, 'input'),
    output: toJsonSchema(events ? events.yields : outputSchema, 'output'),
    example: isZod(inputSchema) ? requestSchemas.get(inputSchema)?.example : undefined,
    outputExample: isZod(outputSchema) ? responseSchemas.get(outputSchema)?.example : undefined,
  }
}

function accessOf({ access, administratorsOnly, watches }: Meta) {
  if (access === 'public') return 'public' as const
  if (hasPublicTopics(watches)) return 'publicTopics' as const
  return administratorsOnly ? ('administrators' as const) : ('signedIn' as const)
}

const describeLimit = ({ name, points, duration, perAccount }: RateLimit) => ({
  name,
  points,
  duration,
  by: perAccount ? ('account' as const) : ('network' as const),
})

const describeErrors = (errorMap: ErrorMap) =>
  Object.entries(errorMap).flatMap(([code, item]) => {
    if (!item) return []
    const { status = 500, message = '', data } = item
    const [hasData, schema] = data ? schemaConverter.convert(data, { strategy: 'output' }) : [false, {}]
    const example = exampleOf([code, message, hasData, schema], status)
    return [{ code, status, message, isDefined: true, example }]
  })

const toJsonSchema = (schema: AnySchema | undefined, strategy: 'input' | 'output') =>
  // `convert` returns whether a value is required, and its schema.
  schema ? (schemaConverter.convert(schema, { strategy })[1] as Record<string, unknown>) : null
