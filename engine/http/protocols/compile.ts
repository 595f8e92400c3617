import type { AnySchema, ErrorMap, Route } from '@orpc/contract'
import {
  type AnyMiddleware,
  type AnyProcedure,
  type AnyRouter,
  createORPCErrorConstructorMap,
  getRouter,
  isProcedure,
  type MiddlewareNextFn,
  middlewareOutputFn,
  ORPCError,
  traverseContractProcedures,
  ValidationError,
} from '@orpc/server'
import { flattenHeader } from '@orpc/standard-server'
import { type Meta, metaOf } from 'tallystick-contract/internal'

import type { Context } from '../../call/context.ts'
import { declaredOutput } from '../../values/output.ts'
import { LiveEvents } from '../../call/live-stream.ts'

/** The internal definition of a procedure in @orpc/server 1.16.1. */
interface Definition {
  middlewares: readonly AnyMiddleware[]
  handler(options: object): unknown
  route: Route
  errorMap: ErrorMap
  inputSchema?: AnySchema
  outputSchema?: AnySchema
  inputValidationIndex: number
  outputValidationIndex: number
}

const definitionOf = (procedure: AnyProcedure): Definition => procedure['~orpc']

type Run = (context: Context, input: unknown) => unknown

/** A procedure, with its middleware and validation composed once. */
export interface CompiledProcedure {
  procedure: AnyProcedure
  /** The path in the contract, for example `books.update`. */
  operation: string
  route: Route
  /** Whether the contract declares an input. */
  hasInput: boolean
  run: Run
  errorMap: ErrorMap
  meta: Meta
}

/**
 * Composes a procedure like oRPC's own procedure client, but creates only a third of the promises. The validation of the
 * output removes properties that the contract does not declare.
 */
export function compile(procedure: AnyProcedure, path: readonly string[]): CompiledProcedure {
  const { middlewares, handler, route, errorMap, inputSchema, outputSchema, ...positions } =
    definitionOf(procedure)
  const inputValidationIndex = Math.min(positions.inputValidationIndex, middlewares.length)
  const outputValidationIndex = Math.min(positions.outputValidationIndex, middlewares.length)
  const errors = createORPCErrorConstructorMap(errorMap)
  const operation = path.join('.')

  const around =
    (middleware: AnyMiddleware, inner: Run): Run =>
    (context, input) => {
      const next = (given?: { context?: object }) =>
        chain(inner(given?.context ? { ...context, ...given.context } : context, input), asResult)
      const options = {
        procedure,
        path,
        errors,
        lastEventId: lastEventIdOf(context),
        context,
        next: next as MiddlewareNextFn<unknown>,
      }
      return chain(middleware(options, input, middlewareOutputFn), outputOf)
    }
  const checkInput =
    (schema: AnySchema, inner: Run): Run =>
    (context, input) =>
      chain(schema['~standard'].validate(input), (result) => {
        if (!result.issues) return inner(context, result.value)
        const broken = { message: 'Input validation failed', issues: result.issues, data: input }
        throw new ORPCError('BAD_REQUEST', { cause: new ValidationError(broken) })
      })
  const checkOutput =
    (schema: AnySchema, inner: Run): Run =>
    (context, input) =>
      chain(inner(context, input), (output) => {
        // The states of the events are outputs of other procedures, which have been validated.
        if (output instanceof LiveEvents) return output
        return chain(schema['~standard'].validate(output), declaredOutput)
      })

  // From the inside to the outside. At one position, the validation of the output is around that of the input, which is
  // around the middleware.
  let run: Run = (context, input) =>
    handler({ procedure, path, errors, lastEventId: lastEventIdOf(context), context, input })
  for (let index = middlewares.length; index >= 0; index--) {
    const middleware = middlewares[index]
    if (middleware) run = around(middleware, run)
    if (inputSchema && index === inputValidationIndex) run = checkInput(inputSchema, run)
    if (outputSchema && index === outputValidationIndex) run = checkOutput(outputSchema, run)
  }
  return {
    procedure,
    operation,
    route,
    hasInput: inputSchema !== undefined,
    run,
    errorMap,
    meta: metaOf(procedure),
  }
}

/** Returns all procedures of a router with their paths, in the order of the router. */
export function proceduresOf(router: AnyRouter) {
  const found: { procedure: AnyProcedure; path: readonly string[] }[] = []
  traverseContractProcedures({ router, path: [] }, ({ path }) => {
    const procedure = getRouter(router, path)
    if (isProcedure(procedure)) found.push({ procedure, path })
  })
  return found
}

/** Composes all procedures. */
export const compileAll = (router: AnyRouter) =>
  proceduresOf(router).map(({ procedure, path }) => compile(procedure, path))

const lastEventIdOf = ({ headers }: Context) => flattenHeader(headers['last-event-id'])

/**
 * Calls `next` with a value, or with the result of a promise. If the value is not a promise, the call is synchronous,
 * because every `await` costs about a microsecond.
 */
const chain = <Value, Next>(value: Value, next: (value: Awaited<Value>) => Next) =>
  typeof value === 'object' && value !== null && 'then' in value
    ? Promise.resolve(value as PromiseLike<Awaited<Value>>).then(next)
    : next(value as Awaited<Value>)

/** Middleware of oRPC passes an output as `{ output, context }`. */
const NOTHING = {}
const asResult = (output: unknown) => ({ output, context: NOTHING })
const outputOf = ({ output }: { output: unknown }) => output
