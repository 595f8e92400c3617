import { z } from 'zod'

import { OAuthError } from './oauth-error.ts'

/** The parameters of a request to an OAuth endpoint. Parameters without a value are absent (RFC 6749, section 3.2). */
export type Form = Record<string, string>

/** The schema of a required parameter. */
export const Parameter = z.string('Is missing')

/** Throws OAuthError if a parameter is missing. */
export function parse<Output>(schema: z.ZodType<Output>, form: Form) {
  const { success, data, error } = schema.safeParse(form)
  if (success) return data
  const [issue] = error.issues
  throw new OAuthError('invalid_request', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`)
}
