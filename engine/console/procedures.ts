import { type AnySchema, type ErrorMap, getEventIteratorSchemaDetails, type Route } from '@orpc/contract'
import { type AnyProcedure, ORPCError } from '@orpc/server'
import {
  type Meta,
  metaOf,
  requestSchemas,
  type RateLimit,
  toPublicIssues,
} from 'tallystick-contract/internal'
import type { z } from 'zod'

import { proceduresOf } from '../http/protocols/compile.ts'
import { schemaConverter } from '../openapi/document.ts'
import type { App } from '../app/resource.ts'
import type { ProcedureDescription } from './contract.ts'

/** The parts of a procedure that the console shows. oRPC gives them the type `any`. */
interface Definition {
  route: Route
  errorMap: ErrorMap
  inputSchema?: AnySchema
  outputSchema?: AnySchema
}

const definitionOf = (procedure: AnyProcedure): Definition => procedure['~orpc']

/** Describes the procedures of an application, in the order of the contract. */
export const describeProcedures = ({ router }: Pick<App, 'router'>): ProcedureDescription[] =>
  proceduresOf(router).map(({ procedure, path }) => describe(procedure, path))

function describe(procedure: AnyProcedure, path: readonly string[]): ProcedureDescription {
  const { route, inputSchema, outputSchema, errorMap } = definitionOf(procedure)
  const meta = metaOf(procedure)
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
    errors: describeErrors(errorMap),
    input: toJsonSchema(inputSchema, 'input'),
    output: toJsonSchema(events ? events.yields : outputSchema, 'output'),
    example: inputSchema && requestSchemas.get(inputSchema as z.ZodType)?.example,
  }
}

function accessOf({ access, administratorsOnly }: Meta) {
  if (access === 'public') return 'public' as const
  return administratorsOnly ? ('administrators' as const) : ('signedIn' as const)
}

const describeLimit = ({ name, points, duration, perAccount }: RateLimit) => ({
  name,
  points,
  duration,
  by: perAccount ? ('account' as const) : ('network' as const),
})

const describeErrors = (errorMap: ErrorMap) =>
  Object.entries(errorMap).flatMap(([code, item]) =>
    item ? [{ code, status: item.status ?? 500, message: item.message ?? '' }] : [],
  )

const toJsonSchema = (schema: AnySchema | undefined, strategy: 'input' | 'output') =>
  // `convert` returns whether a value is required, and its schema.
  schema ? (schemaConverter.convert(schema, { strategy })[1] as Record<string, unknown>) : null

/** Returns the issues of an input. Throws NOT_FOUND for an unknown operation. */
export async function validateInput({ router }: Pick<App, 'router'>, operation: string, input: unknown) {
  const found = proceduresOf(router).find(({ path }) => path.join('.') === operation)
  if (!found) throw new ORPCError('NOT_FOUND', { message: `There is no procedure ${operation}` })
  const result = await definitionOf(found.procedure).inputSchema?.['~standard'].validate(input)
  return toPublicIssues(result?.issues ?? [])
}
