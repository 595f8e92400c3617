import type { AnySchema } from '@orpc/contract'
import { type AnyProcedure, Procedure } from '@orpc/server'
import { isObject } from '@orpc/shared'
import type { SchemaIssue } from 'tallystick-contract/internal'

import type { App } from '../../app/resource.ts'
import { isTransform, isZod, schemasOf, someSchema } from '../../values/schema.ts'
import { mapProcedures, mapRouter, mapValues } from './map-procedures.ts'

/**
 * Returns an application whose procedures refuse an output with properties that the contract does not declare, over every
 * protocol and in process. Otherwise, the validation of outputs removes these properties silently.
 */
export function refuseUndeclaredOutputs(app: App): App {
  const resources = mapValues(app.resources, (resource) => mapProcedures(resource, withCheckedOutput))
  return { ...app, resources, router: mapRouter(app.router, withCheckedOutput) as App['router'] }
}

/** A transformation can rename or remove properties, so an output with a transformation is not checked. */
export function withCheckedOutput(procedure: AnyProcedure): AnyProcedure {
  const { outputSchema } = schemasOf(procedure)
  return isZod(outputSchema) && !someSchema(outputSchema, isTransform)
    ? new Procedure({ ...procedure['~orpc'], outputSchema: refuseUndeclaredIn(outputSchema) })
    : procedure
}

/** Returns the same schema, whose validation also refuses undeclared properties. */
function refuseUndeclaredIn<OutputSchema extends AnySchema>(schema: OutputSchema): OutputSchema {
  const standard = schema['~standard']
  type Result = Awaited<ReturnType<typeof standard.validate>>
  const check = (value: unknown, result: Result): Result => {
    const issues = result.issues ? [] : undeclaredProperties(value, result.value)
    return issues.length > 0 ? { issues } : result
  }
  const validate = (value: unknown) => {
    const result = standard.validate(value)
    return result instanceof Promise
      ? result.then((resolved) => check(value, resolved))
      : check(value, result)
  }
  return Object.create(schema, { '~standard': { value: { ...standard, validate } } }) as OutputSchema
}

/** Lists the properties that a value has and its declared part has not. The order of properties does not matter. */
export function undeclaredProperties(
  value: unknown,
  declared: unknown,
  path: readonly PropertyKey[] = [],
): SchemaIssue[] {
  const parts = partsOfValue(value)
  const declaredParts = partsOfValue(declared)
  if (!parts || !declaredParts) return []
  return [...parts].flatMap(([name, part]) =>
    declaredParts.has(name)
      ? undeclaredProperties(part, declaredParts.get(name), [...path, name])
      : // JSON has no undefined, so nothing is lost.
        part === undefined
        ? []
        : [{ path: [...path, name], message: 'The contract does not declare this property' }],
  )
}

/** Returns the properties or items of a value by name. Undefined for a value without parts, such as a Date. */
function partsOfValue(value: unknown): Map<PropertyKey, unknown> | undefined {
  if (value instanceof Set || Array.isArray(value)) return new Map([...value].entries())
  if (value instanceof Map) return new Map([...value].flat().entries())
  return isObject(value) ? new Map(Object.entries(value)) : undefined
}
