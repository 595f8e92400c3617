import type { AnyContractRouter } from '@orpc/contract'

import { listNamedUses } from '../../openapi/named-schemas.ts'

/** Two schemas with one name would be one component of the OpenAPI document, so that one of them would be missing. */
export function mistakesOfSchemas(contract: AnyContractRouter) {
  const first = new Map<string, ReturnType<typeof listNamedUses>[number]>()
  return listNamedUses(contract).flatMap((use) => {
    const { name, schema, operation } = use
    const other = first.get(name) ?? use
    first.set(name, other)
    return other.schema === schema
      ? []
      : [
          `${operation} and ${other.operation}: two schemas have the name ${name}; give one of them another \`id\` in \`.register\``,
        ]
  })
}
