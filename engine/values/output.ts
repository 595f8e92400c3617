import type { AnySchema } from '@orpc/contract'
import { StandardOpenAPIJsonSerializer } from '@orpc/openapi-client/standard'
import { type SchemaIssue, toPublicIssues } from 'tallystick-contract/internal'

/**
 * Thrown for an output that violates its schema. Contains the paths and the violated rules, but no values of the
 * output, so that the error can be logged.
 */
export class InvalidOutput extends Error {
  readonly issues
  constructor(issues: readonly SchemaIssue[] = []) {
    super('An answer breaks its contract')
    this.issues = toPublicIssues(issues)
  }
}

/** Returns the output without the fields that its schema does not declare. Throws InvalidOutput if validation failed. */
export function declaredOutput(validated: Awaited<ReturnType<AnySchema['~standard']['validate']>>): unknown {
  if (validated.issues) throw new InvalidOutput(validated.issues)
  return validated.value
}

export const validateOutput = async (schema: AnySchema, output: unknown) =>
  declaredOutput(await schema['~standard'].validate(output))

const serializer = new StandardOpenAPIJsonSerializer()

/**
 * Converts a value to a value that JSON can represent, like the OpenAPI handler of oRPC: a Date becomes its ISO 8601 text, a
 * bigint its digits, a URL its text, a Set or a Map a list, and NaN becomes null.
 */
export const toJsonValue = (value: unknown) => serializer.serialize(value)[0]

/** Writes a value as JSON, with the conversions of `toJsonValue`. */
export const toJson = (value: unknown) => JSON.stringify(toJsonValue(value ?? null))
