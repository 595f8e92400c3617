import type { AnyContractRouter } from '@orpc/contract'

import { listNamedSchemas } from '../../../openapi/named-schemas.ts'

/** Two schemas with one name would be one component of the OpenAPI document, so that one of them would be missing. */
export function mistakesOfSchemas(contract: AnyContractRouter) {
  const first = new Map<string, ReturnType<typeof listNamedSchemas>[number]>()
  return listNamedSchemas(contract).flatMap((named) => {
    const { name, schema, operation } = named
    const other = first.get(name) ?? named
    first.set(name, other)
    return other.schema === schema
      ? []
      : [
          `${operation} and ${other.operation}: two schemas have the name ${name}; give one of them another \`id\` in \`.register\``,
        ]
  })
}
