import {
  context,
  propagation,
  ProxyTracer,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import type { AnyContractRouter } from '@orpc/contract'
import { ORPCError, traverseContractProcedures } from '@orpc/server'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { codeOf } from '../db/errors.ts'
import type { StatementObserver } from '../db/connection/observer.ts'
import type { AttributesOf } from '../call/context.ts'
import { MAX_PATH } from './log.ts'

/** A request with its response. `target` contains the normalized path. */
interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  target: { path: string }
}

const globalTracer = trace.getTracer('tallystick')

/**
 * Creates a span for each request, procedure and statement. Undefined if no OpenTelemetry SDK was loaded before this
 * module. In this case, tracing has no cost.
 */
export const tracing = globalTracer instanceof ProxyTracer ? undefined : createTracing(globalTracer)

function createTracing(tracer: Tracer) {
  async function withSpan<Result>(span: Span, run: () => PromiseLike<Result> | Result): Promise<Result> {
    try {
      return await context.with(trace.setSpan(context.active(), span), run)
    } catch (error) {
      recordError(span, error)
      throw error
    } finally {
      span.end()
    }
  }

  const observeStatement: StatementObserver = ({ name, text }, run) => {
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name, 'db.query.text': text }
    return withSpan(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }), run)
  }

  return {
    observeStatement,

    procedure<Result>(path: readonly string[], run: () => PromiseLike<Result> | Result) {
      return withSpan(tracer.startSpan(path.join('.')), run)
    },

    /**
     * Creates a span for each request. If the request headers contain a trace context, the span continues that trace.
     * Does not record the query string or other headers, because they may contain secrets.
     */
    serve:
      <Received extends Exchange>(
        receive: (exchange: Received) => void,
        attributesOf: AttributesOf,
        routeOf: RouteOf,
      ): typeof receive =>
      (exchange) => {
        const { request, response, target } = exchange
        const { method = '', headers } = request
        const { path } = target
        const shortPath = path.slice(0, MAX_PATH)
        const attributes = { 'http.request.method': method, 'url.path': shortPath, 'url.scheme': 'http' }
        const parent = propagation.extract(ROOT_CONTEXT, headers)
        const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent)
        response.once('close', () => {
          const route = routeOf(attributesOf(request)?.operation, path)
          if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute('http.route', route)
          if (typeof request.id === 'string') span.setAttribute('tallystick.request.id', request.id)
          endSpan(span, response)
        })
        context.with(trace.setSpan(parent, span), receive, undefined, exchange)
      },

    /** Returns a function that calls `run` later, with the trace context of the current request. */
    bind: (run: () => void) => context.bind(context.active(), run),
  }
}

function endSpan(span: Span, { writableFinished, statusCode }: ServerResponse) {
  if (!writableFinished) span.setAttribute('error.type', 'aborted')
  else span.setAttribute('http.response.status_code', statusCode)
  if (writableFinished && statusCode >= 500)
    span.setAttribute('error.type', String(statusCode)).setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

/**
 * Records the code or the name of an error. Omits the message, because the message may contain input of the caller. An
 * error with a status below 500 does not mark the span as failed. For unexpected errors and for a status >= 500, the
 * log contains the details.
 */
function recordError(span: Span, error: unknown) {
  const isPublic = error instanceof ORPCError
  const name = error instanceof Error ? error.name : typeof error
  span.setAttribute('error.type', isPublic ? String(error.code) : codeOf(error) || name)
  if (!isPublic || error.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
}

/** Returns the route of an operation: a path with placeholders, such as `/api/books/{id}`. */
type RouteOf = (operation: string | undefined, path: string) => string | undefined

interface Declared {
  contract: AnyContractRouter
  endpoints: Readonly<Record<string, { path: string }>>
}

export function createRoutes({ contract, endpoints }: Declared): RouteOf {
  const routes = new Map<string, string | undefined>(
    Object.entries(endpoints).map(([name, { path }]) => [`endpoints.${name}`, path]),
  )
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: declared, path }) => {
    routes.set(path.join('.'), declared['~orpc'].route.path)
  })
  return (operation, path) => {
    if (operation === undefined) return undefined
    // All tools have the same path, and their names are in the bodies.
    if (path === '/mcp') return path
    if (path.startsWith('/rpc/')) return `/rpc/${operation.replaceAll('.', '/')}`
    return routes.get(operation) ?? operation
  }
}
