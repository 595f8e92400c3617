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

const isSchema = (value: object): value is Schema => '_zod' in value

/** Adds the schemas in a value: a schema, the definition of a schema, or a list or an object of schemas. */
function collect(value: unknown, found: Set<Schema>) {
  if (typeof value !== 'object' || value === null) return
  if (isSchema(value)) {
    if (found.has(value)) return
    found.add(value)
    collect(value._zod.def, found)
  } else if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
    for (const member of Object.values(value)) collect(member, found)
}

/** The schemas that a procedure uses: those of its input, output and errors, with the schemas that these contain. */
interface SchemaUse {
  operation: string
  input: AnySchema | undefined
  schemas: ReadonlySet<Schema>
}

function listUses(contract: AnyContractRouter) {
  const uses: SchemaUse[] = []
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
    const { inputSchema, outputSchema, errorMap } = procedure['~orpc'] as Definition
    const events = getEventIteratorSchemaDetails(outputSchema)
    const schemas = new Set<Schema>()
    for (const value of [inputSchema, events ? events.yields : outputSchema, errorMap])
      collect(value, schemas)
    uses.push({ operation: path.join('.'), input: inputSchema, schemas })
  })
  return uses
}

/**
 * Returns whether the input of a procedure has all fields of an object, for example the fields of the body beside the parameters of
 * the path (`Body.extend(…)`).
 */
const isExtended = (schema: Schema, { input }: SchemaUse) =>
  schema instanceof z.ZodObject &&
  input instanceof z.ZodObject &&
  Object.entries<unknown>(schema.shape).every(([name, member]) => input.shape[name] === member)

/**
 * Lists the named schemas of a contract in the order of their registration, each with the first procedure that uses the schema. The
 * registries also contain the schemas of other contracts in this process. `strategy` says which JSON Schema to publish: of the
 * values that a request sends (input), or of the values in an answer (output).
 */
export function listNamedSchemas(contract: AnyContractRouter) {
  const uses = listUses(contract)
  const listFrom = ({ all }: typeof responseSchemas | typeof requestSchemas, strategy: 'input' | 'output') =>
    all.flatMap((named) => {
      const { schema } = named
      const use =
        uses.find(({ schemas }) => schemas.has(schema)) ??
        (strategy === 'input' ? uses.find((each) => isExtended(schema, each)) : undefined)
      return use ? [{ ...named, strategy, operation: use.operation }] : []
    })
  return [...listFrom(responseSchemas, 'output'), ...listFrom(requestSchemas, 'input')]
}
