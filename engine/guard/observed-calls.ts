import type { ErrorMap } from '@orpc/contract'

import type { Context } from '../call/context.ts'
import { recordCall, recordings } from '../telemetry/recording.ts'
import { tracing } from '../telemetry/tracing.ts'
import { toPublicError } from './public-errors.ts'

interface ObservedCall {
  context: Context
  /** The names of the operation, for example `['books', 'update']`. */
  path: readonly string[]
  input: unknown
  errorMap: ErrorMap
}

/** Runs a call, with its name in log, metrics, traces and the console. Throws only errors that the caller may see. */
export async function observeCall<Output extends { output: unknown }>(
  { context, path, input, errorMap }: ObservedCall,
  check: () => Promise<Output>,
): Promise<Output> {
  const operation = path.join('.')
  context.attributes.operation = operation
  const tracer = tracing
  const run = tracer ? () => tracer.procedure(path, check) : check
  // Set for a request that the console for developers records.
  const recording = recordings.getStore()?.recording
  try {
    return await (recording ? recordCall(recording, { operation, input, context }, run) : run())
  } catch (error) {
    throw await toPublicError(error, context, operation, errorMap)
  }
}
