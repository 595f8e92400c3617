import {
  type AnyContractRouter,
  type AnySchema,
  type ErrorMap,
  getEventIteratorSchemaDetails,
  type Route,
} from '@orpc/contract'
import { type AnyRouter, traverseContractProcedures } from '@orpc/server'
import { isAsyncIteratorObject } from '@orpc/shared'
import { type EngineContract, isChange, type Meta, metaOf } from 'tallystick-contract/internal'
import { z } from 'zod'

import type { App } from 'tallystick/internal/app/resource'

/** A procedure of a router: its name and path, and the declarations of its contract. */
export interface Declared {
  /** For example `books.create`. */
  name: string
  path: readonly string[]
  meta: Meta
  /** The codes of the declared errors. */
  errors: string[]
  method: string
  /** Whether the input selects a page of a list. */
  isList: boolean
  /** Whether the output is a stream of events. */
  isStream: boolean
  /** Whether a call can change data. */
  isChange: boolean
  input: AnySchema | undefined
  /** The parameters in the path of the URL. */
  parameters: string[]
}

interface Definition {
  errorMap: ErrorMap
  inputSchema?: AnySchema
  outputSchema?: AnySchema
  route: Route
}

const isList = (schema: unknown): boolean =>
  schema instanceof z.ZodOptional
    ? isList(schema.unwrap())
    : schema instanceof z.ZodObject && 'cursor' in schema.shape && 'limit' in schema.shape

export function proceduresOf(router: AnyRouter | AnyContractRouter) {
  const found: Declared[] = []
  traverseContractProcedures({ router, path: [] }, ({ contract: procedure, path }) => {
    const { errorMap, inputSchema, outputSchema, route } = procedure['~orpc'] as Definition
    const meta = metaOf(procedure)
    const { method = 'POST' } = route
    found.push({
      name: path.join('.'),
      path,
      meta,
      errors: Object.keys(errorMap),
      method,
      isChange: isChange(procedure),
      input: inputSchema,
      isList: isList(inputSchema),
      isStream: getEventIteratorSchemaDetails(outputSchema) !== undefined,
      parameters: Array.from((route.path ?? '').matchAll(/\{(\w+)\}/g), ([, parameter = '']) => parameter),
    })
  })
  return found
}

/**
 * Calls a procedure by its path. The input contains only the parameters that REST needs for the URL, and the topics of
 * `live.watch`. Ends a stream.
 */
export async function callByPath(
  client: object,
  { path, parameters }: Pick<Declared, 'path' | 'parameters'>,
  topics: readonly string[] = [],
) {
  const procedure = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], client)
  const input = { ...Object.fromEntries(parameters.map((name) => [name, 1])), topics }
  const output = await (procedure as (input: unknown) => Promise<unknown>)(input)
  if (isAsyncIteratorObject(output)) await output.return?.()
  return output
}

/**
 * Returns the topics of the calls that need an access: one list for each topic of `live.watch` with this access. For a procedure
 * without topics: one empty list if the procedure needs the access, otherwise none.
 */
export const topicsWith = ({ access, watches }: Meta, expected: Meta['access']): string[][] => {
  if (!watches) return access === expected ? [[]] : []
  return watches.flatMap((topic) => (topic.access === expected ? [[topic.name]] : []))
}

const hasCode = (error: unknown, code: string) => (error as { code?: string }).code === code

export const isUnauthorized = (error: unknown) => hasCode(error, 'UNAUTHORIZED')

/** Lists the procedures that require a session, and do not refuse the caller with an error code. */
async function listUnrefused(
  router: AnyRouter,
  client: object,
  code: string,
  isExpected = (_: Meta) => true,
) {
  const names: string[] = []
  for (const declared of proceduresOf(router).filter(({ meta }) => isExpected(meta)))
    for (const topics of topicsWith(declared.meta, 'signedIn')) {
      const isRefused = await callByPath(client, declared, topics).then(
        () => false,
        (error: unknown) => hasCode(error, code),
      )
      if (!isRefused) names.push([declared.name, ...topics].join(' '))
    }
  return names
}

/** Lists the procedures that accept an unauthenticated caller although their contract requires a session. */
export const listUnguarded = (router: AnyRouter, stranger: object) =>
  listUnrefused(router, stranger, 'UNAUTHORIZED')

/** Lists the procedures that accept a token, although the scope of the token is not the scope of the procedure. */
export const listUnscoped = (router: AnyRouter, client: object, scope: string) =>
  listUnrefused(router, client, 'INSUFFICIENT_SCOPE', (meta) => meta.scope !== scope)

/** Lists the procedures with a fixed answer, although the guard has more to do than to name the operation. */
export const listGuardedFixedAnswers = (router: AnyRouter) =>
  proceduresOf(router)
    .filter(
      ({ meta: { fixedAnswer, access, rateLimit, secrets } }) =>
        fixedAnswer && (access !== 'public' || (rateLimit ?? secrets)),
    )
    .map(({ name }) => name)

/** Lists the procedures that change data by GET, or that any caller can call without a limit to change data. */
export const listUnsafeChanges = (router: AnyRouter) =>
  proceduresOf(router)
    .filter(
      ({ meta: { updates, access, rateLimit }, method }) =>
        updates && (method === 'GET' || (access === 'public' && !rateLimit)),
    )
    .map(({ name }) => name)

/** The names of the resources that every application has. The compiler reports a missing name. */
const engineResources: Record<keyof EngineContract, true> = {
  status: true,
  account: true,
  sessions: true,
  live: true,
  apps: true,
  tokens: true,
  audit: true,
}

export function listOwnProcedures({ router }: Pick<App, 'router'>) {
  return proceduresOf(router).flatMap(({ name, path: [resource = ''] }) =>
    Object.hasOwn(engineResources, resource) ? [] : [name],
  )
}
