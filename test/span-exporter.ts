import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

/** Exports the spans of the service. Import this module first: the service uses the provider that is registered at its import. */
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
