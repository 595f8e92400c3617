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
import { ORPCError, traverseContractProcedures } from '@orpc/server'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { contract } from '../../contract/index.ts'
import { codeOf } from '../../db/errors.ts'
import type { StatementObserver } from '../../db/observer.ts'
import type { AttributesOf } from '../context.ts'
import { MAX_PATH } from './log.ts'

/** Handles a request whose path was normalized. */
type Listener<Target extends { path: string }> = (
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
) => void

const found = trace.getTracer('tallystick')

/** A span for each request, procedure and statement, where an OpenTelemetry SDK was loaded first; else nothing at all. */
export const tracing = found instanceof ProxyTracer ? undefined : createTracing(found)

function createTracing(tracer: Tracer) {
  const routeOf = createRoutes()

  async function within<Result>(span: Span, run: () => PromiseLike<Result> | Result): Promise<Result> {
    try {
      return await context.with(trace.setSpan(context.active(), span), run)
    } catch (error) {
      fail(span, error)
      throw error
    } finally {
      span.end()
    }
  }

  const watch: StatementObserver = ({ name, text }, run) => {
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name, 'db.query.text': text }
    return within(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }), run)
  }

  return {
    watch,

    procedure<Result>(path: readonly string[], run: () => PromiseLike<Result> | Result) {
      return within(tracer.startSpan(path.join('.')), run)
    },

    /** Continues the trace that the headers of a request name. Records no query and no other header: both carry secrets. */
    serve:
      <Target extends { path: string }>(
        listener: Listener<Target>,
        attributesOf: AttributesOf,
      ): Listener<Target> =>
      (request, response, target) => {
        const { method = '', headers } = request
        const { path } = target
        const shown = path.slice(0, MAX_PATH)
        const attributes = { 'http.request.method': method, 'url.path': shown, 'url.scheme': 'http' }
        const around = propagation.extract(ROOT_CONTEXT, headers)
        const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, around)
        response.once('close', () => {
          const route = routeOf(attributesOf(request)?.operation, path)
          if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute('http.route', route)
          if (typeof request.id === 'string') span.setAttribute('tallystick.request.id', request.id)
          end(span, response)
        })
        context.with(trace.setSpan(around, span), listener, undefined, request, response, target)
      },

    /** What is done later is still done for the same request. */
    bind: (run: () => void) => context.bind(context.active(), run),
  }
}

function end(span: Span, { writableFinished, statusCode }: ServerResponse) {
  if (!writableFinished) span.setAttribute('error.type', 'aborted')
  else span.setAttribute('http.response.status_code', statusCode)
  if (writableFinished && statusCode >= 500)
    span.setAttribute('error.type', String(statusCode)).setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

/** By its kind alone, for a message may repeat what was sent: the log has more, by the request's id. A refusal is no failure. */
function fail(span: Span, error: unknown) {
  const isKnown = error instanceof ORPCError
  const name = error instanceof Error ? error.name : typeof error
  span.setAttribute('error.type', isKnown ? String(error.code) : codeOf(error) || name)
  if (!isKnown || error.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
}

/** The path of an operation as its protocol has it, without what callers fill in: `/api/tasks/{id}`. */
function createRoutes() {
  const documented = new Map<string, string | undefined>()
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: declared, path }) => {
    documented.set(path.join('.'), declared['~orpc'].route.path)
  })
  return (operation: string | undefined, path: string) => {
    if (operation === undefined) return undefined
    if (path === '/mcp') return path
    if (path.startsWith('/rpc/')) return `/rpc/${operation.replaceAll('.', '/')}`
    return documented.get(operation) ?? operation
  }
}
