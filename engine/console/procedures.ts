import type { AnySchema } from '@orpc/contract'
import { type AnyProcedure, ORPCError } from '@orpc/server'
import { toPublicIssues } from 'tallystick-contract/internal'

import type { App } from '../app/resource.ts'
import { proceduresOf } from '../http/protocols/compile.ts'

const inputSchemaOf = ({ '~orpc': definition }: AnyProcedure) =>
  (definition as { inputSchema?: AnySchema }).inputSchema

/** Returns the issues of an input. Throws NOT_FOUND for an unknown operation. */
export async function validateInput({ router }: Pick<App, 'router'>, operation: string, input: unknown) {
  const found = proceduresOf(router).find(({ path }) => path.join('.') === operation)
  if (!found) throw new ORPCError('NOT_FOUND', { message: `There is no procedure ${operation}` })
  const result = await inputSchemaOf(found.procedure)?.['~standard'].validate(input)
  return toPublicIssues(result?.issues ?? [])
}
