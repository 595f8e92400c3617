import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

/** All that the service traced. Import this first: as with `node --import`, what is registered later is not seen. */
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
