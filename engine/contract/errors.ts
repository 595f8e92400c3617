import { ORPCError } from '@orpc/client'
import type { ValidationError } from '@orpc/contract'
import * as z from 'zod'

import { withName } from './error-names.ts'

/**
 * The body of every REST error. `error` and `message` contain the same text, because the API has two specifications
 * that use different fields for this text.
 */
export const ErrorBody = z.object({
  defined: z.boolean(),
  code: z.string(),
  status: z.int(),
  message: z.string(),
  data: z.unknown().optional(),
  error: z.string(),
})
export type ErrorBody = z.infer<typeof ErrorBody>

type PublicError = Pick<ORPCError<string, unknown>, 'message' | 'toJSON'>

export const errorBody = (error: PublicError): ErrorBody => ({
  ...error.toJSON(),
  error: error.message,
})

/**
 * Creates the typed error from an error body. Returns undefined if the body has another shape. For oRPC's OpenAPILink:
 * `new OpenAPILink(contract, { url, customErrorResponseBodyDecoder: decodeErrorBody })`.
 */
export function decodeErrorBody(body: unknown) {
  const { success, data } = ErrorBody.safeParse(body)
  // With the name `ORPCError`, for logs.
  return success ? withName(new ORPCError(data.code, data)) : undefined
}

/** What a schema reports about an invalid value: its path in segments, and a message. */
export type SchemaIssue = ValidationError['issues'][number]

/**
 * Converts issues to the format of responses: the segments of a path are joined with dots. If an issue concerns the
 * whole value, the path is empty.
 */
export const toPublicIssues = (issues: readonly SchemaIssue[]) =>
  issues.map(({ path = [], message }) => ({
    path: path.map((segment) => String(typeof segment === 'object' ? segment.key : segment)).join('.'),
    message,
  }))

/** The data of BAD_REQUEST. Procedures can throw BAD_REQUEST without declaring it in the contract. */
export const BadRequestData = z.object({
  issues: z.array(z.object({ path: z.string(), message: z.string() })),
})
export type BadRequestData = z.infer<typeof BadRequestData>

export const badRequest = (issues: readonly SchemaIssue[]) =>
  new ORPCError('BAD_REQUEST', {
    message: 'Input validation failed',
    data: { issues: toPublicIssues(issues) },
  })

/** Creates the error for a temporary problem (503). A retry may succeed. */
export const unavailable = (message: string) => new ORPCError('SERVICE_UNAVAILABLE', { message })
