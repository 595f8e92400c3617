import type { AnySchema } from '@orpc/contract'

import { type Issue, listIssues } from '../contract/errors.ts'
import { mapMaybePromise } from './maybe-promise.ts'

/** An output that breaks its schema. Names the places and the rules, never the values: the error is logged. */
export class InvalidOutput extends Error {
  readonly issues
  constructor(issues: readonly Issue[] = []) {
    super('An answer breaks its contract')
    this.issues = listIssues(issues)
  }
}

/** Removes what the schema does not declare. Throws InvalidOutput where the value breaks the schema. */
export const validateOutput = (schema: AnySchema, value: unknown) =>
  mapMaybePromise(schema['~standard'].validate(value), (result): unknown => {
    if (result.issues) throw new InvalidOutput(result.issues)
    return result.value
  })
