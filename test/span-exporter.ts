import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

/**
 * Stores the spans of the service in memory. Import this module before the modules of the service, because these
 * modules get the registered tracer provider when Node loads the modules.
 */
export const exporter = new InMemorySpanExporter()

trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator({
  fields: () => ['traceparent'],
  inject: () => undefined,
  extract: (around, carrier, getter) => {
    const [, traceId, spanId, flags] = String(getter.get(carrier, 'traceparent')).split('-')
    if (!traceId || !spanId) return around
    return trace.setSpanContext(around, { traceId, spanId, traceFlags: Number(flags), isRemote: true })
  },
})
