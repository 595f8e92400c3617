import { type AnyContractRouter, type AnySchema, getEventIteratorSchemaDetails } from '@orpc/contract'
import { traverseContractProcedures } from '@orpc/server'
import { requestSchemas, responseSchemas } from 'tallystick-contract'
import { z } from 'zod'

type Schema = z.core.$ZodType

interface Definition {
  inputSchema?: AnySchema
  outputSchema?: AnySchema
  errorMap: object
}

interface Registry {
  _idmap: Map<string, Schema>
  get: (schema: Schema) => { id: string; example: unknown } | undefined
}

const isSchema = (value: object): value is Schema => '_zod' in value

/** Adds the schemas in a value: a schema, the definition of a schema, or a list or an object of schemas. */
function collect(value: unknown, found: Set<Schema>) {
  if (typeof value !== 'object' || value === null) return
  if (isSchema(value)) {
    if (found.has(value)) return
    found.add(value)
    collect({ ...value._zod.def }, found)
  } else if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
    for (const member of Object.values(value)) collect(member, found)
}

/** Returns the schemas of inputs, outputs and errors of a contract, with the schemas that these contain. */
function schemasOf(contract: AnyContractRouter) {
  const found = new Set<Schema>()
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure }) => {
    const { inputSchema, outputSchema, errorMap } = procedure['~orpc'] as Definition
    const events = getEventIteratorSchemaDetails(outputSchema)
    for (const value of [inputSchema, events ? events.yields : outputSchema, errorMap]) collect(value, found)
  })
  return found
}

/**
 * Returns whether all members of an object are schemas of the contract. The body of a request with parameters in its path
 * is such an object: the input is the extended object.
 */
const consistsOf = (schema: Schema, schemas: ReadonlySet<Schema>) =>
  schema instanceof z.ZodObject &&
  Object.values<unknown>(schema.shape).every((member) => schemas.has(member as Schema))

/**
 * Lists the named schemas of a contract, with their examples. The registries also contain the schemas of other contracts in
 * this process. The order is the order of registration.
 */
export function listNamedSchemas(contract: AnyContractRouter) {
  const schemas = schemasOf(contract)
  const listFrom = (registry: Registry, strategy: 'input' | 'output') => {
    const byName = new Map([...schemas].map((schema) => [registry.get(schema)?.id, schema]))
    return [...registry._idmap].flatMap(([name, last]) => {
      const schema = byName.get(name) ?? (consistsOf(last, schemas) ? last : undefined)
      return schema ? [{ name, schema, strategy, value: registry.get(schema)?.example }] : []
    })
  }
  return [...listFrom(responseSchemas, 'output'), ...listFrom(requestSchemas, 'input')]
}
