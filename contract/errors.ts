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

/** What a schema refuses: where, and why. */
export type Issue = ValidationError['issues'][number]

/** The issues as they are published: dotted paths, empty for the whole value. */
export const listIssues = (issues: readonly Issue[]) =>
  issues.map(({ path = [], message }) => ({
    path: path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.'),
    message,
  }))

/** The data of BAD_REQUEST, which no procedure has to declare. */
export const Issues = z.object({ issues: z.array(z.object({ path: z.string(), message: z.string() })) })

export const badRequest = (issues: readonly Issue[]) =>
  new ORPCError('BAD_REQUEST', { message: 'Input validation failed', data: { issues: listIssues(issues) } })

/** Not now, but perhaps in a moment. */
export const unavailable = (message: string) => new ORPCError('SERVICE_UNAVAILABLE', { message })
