import type { AnySchema } from '@orpc/contract'
import { StandardOpenAPIJsonSerializer } from '@orpc/openapi-client/standard'

import { type Issue, listIssues } from '../contract/errors.ts'

/**
 * Thrown for an output that violates its schema. Contains the paths and the violated rules, but no values of the
 * output, so that the error can be logged.
 */
export class InvalidOutput extends Error {
  readonly issues
  constructor(issues: readonly Issue[] = []) {
    super('An answer breaks its contract')
    this.issues = listIssues(issues)
  }
}

/** Removes the fields that the schema does not declare. Throws InvalidOutput if the value violates the schema. */
export async function validateOutput(schema: AnySchema, value: unknown): Promise<unknown> {
  const result = await schema['~standard'].validate(value)
  if (result.issues) throw new InvalidOutput(result.issues)
  return result.value
}

const serializer = new StandardOpenAPIJsonSerializer()

/**
 * Converts a value to a value that JSON can represent, like the OpenAPI handler of oRPC: a Date becomes its ISO 8601 text, a
 * bigint its digits, a URL its text, a Set or a Map a list, and NaN becomes null.
 */
export const toJsonValue = (value: unknown) => serializer.serialize(value)[0]

/** Writes a value as JSON, with the conversions of `toJsonValue`. */
export const toJson = (value: unknown) => JSON.stringify(toJsonValue(value))
