import { ORPCError } from '@orpc/client'
import type { ValidationError } from '@orpc/contract'
import { z } from 'zod'

/** The one error body of REST: both documents' shapes at once. `error` is the same text as `message`. */
export const ErrorBody = z.object({
  defined: z.boolean(),
  code: z.string(),
  status: z.int(),
  message: z.string(),
  data: z.unknown().optional(),
  error: z.string(),
})
export type ErrorBody = z.infer<typeof ErrorBody>

type Thrown = Pick<ORPCError<string, unknown>, 'message' | 'toJSON'>

export const errorBody = (error: Thrown): ErrorBody => ({
  ...error.toJSON(),
  error: error.message,
})

/** The typed error that a body stands for, or nothing where it is no error body of ours. */
export function fromErrorBody(body: unknown) {
  const { success, data } = ErrorBody.safeParse(body)
  return success ? new ORPCError(data.code, data) : undefined
}

/** What broke the bounds, as a short list: where (dotted; empty for the whole input) and why. */
export const badRequest = (issues: ValidationError['issues']) =>
  new ORPCError('BAD_REQUEST', {
    message: 'Input validation failed',
    data: {
      issues: issues.map(({ path = [], message }) => ({
        path: path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.'),
        message,
      })),
    },
  })

/** Not now, but perhaps in a moment. */
export const unavailable = (message: string) => new ORPCError('SERVICE_UNAVAILABLE', { message })
