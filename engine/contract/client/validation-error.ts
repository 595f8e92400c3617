import { ORPCError } from '@orpc/client'

import type { BadRequestData } from '../errors.ts'

/**
 * Whether an error reports an input that violates its schema. `error.data.issues` lists the invalid fields: `path` is
 * the name of the field, with dots between the segments, and empty if the whole input is invalid.
 */
export const isValidationError = (error: unknown): error is ORPCError<'BAD_REQUEST', BadRequestData> =>
  error instanceof ORPCError && error.code === 'BAD_REQUEST' && hasIssues(error.data)

/** Checks without the schema, in a file without schemas, because a bundle of a page would otherwise contain zod. */
const hasIssues = (data: unknown) =>
  typeof data === 'object' && data !== null && 'issues' in data && Array.isArray(data.issues)
