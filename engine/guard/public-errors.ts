import type { ErrorMap } from '@orpc/contract'
import { ORPCError, ValidationError } from '@orpc/server'
import { badRequest, BadRequestData } from 'tallystick-contract/internal'

import type { Context } from '../call/context.ts'
import { toPublicOutage } from './outages.ts'
import { InvalidOutput } from '../values/output.ts'

/**
 * Converts an error of a procedure to the error that the caller receives. An input that violates its schema becomes 400
 * with a list of issues, and a database outage becomes 503. An unexpected error is logged and returned unchanged, because
 * oRPC later replaces it with an internal error without details.
 */
export async function toPublicError(
  error: unknown,
  context: Context,
  operation: string,
  errorMap: ErrorMap,
): Promise<unknown> {
  const outage = toPublicOutage(error)
  const rpcError = isORPCError(error) ? error : undefined
  const cause = rpcError?.cause
  if (rpcError?.code === 'BAD_REQUEST' && cause instanceof ValidationError) return badRequest(cause.issues)
  if (!rpcError || rpcError.status >= 500)
    context.log.error(
      { err: toLoggableError(cause ?? error), procedure: operation, req: { id: context.requestId } },
      'a procedure failed',
    )
  if (outage) {
    context.reply.set('retry-after', '1')
    return outage
  }
  return rpcError ? await removeUndeclaredData(rpcError, errorMap) : error
}

const isORPCError = (error: unknown): error is ORPCError<string, unknown> => error instanceof ORPCError

/**
 * Replaces oRPC's error for an invalid output with InvalidOutput, because oRPC's error contains the whole output, which
 * must not be logged.
 */
const toLoggableError = (error: unknown) =>
  error instanceof ValidationError ? new InvalidOutput(error.issues) : error

/** Removes the data of an error, except for data that the contract declares for the error. */
async function removeUndeclaredData(error: ORPCError<string, unknown>, errorMap: ErrorMap) {
  const { code, defined, status, message, data, cause } = error
  if (data === undefined) return error
  const schema = errorMap[code]?.data ?? (code === 'BAD_REQUEST' ? BadRequestData : undefined)
  const result = await schema?.['~standard'].validate(data)
  const declared: unknown = !result || result.issues ? undefined : result.value
  return new ORPCError(code, { defined, status, message, data: declared, cause })
}
