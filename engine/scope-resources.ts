import type { AnyContractProcedure, AnyContractRouter } from '@orpc/contract'
import { metaOf, type Scope } from 'tallystick-contract'

/** `/api/old-books/{id}` belongs to `old books`, and `/api/me` to `account`. */
function resourceOf(path = '') {
  const [, , segment = ''] = path.split('/')
  return segment === 'me' ? 'account' : segment.replaceAll('-', ' ')
}

/**
 * Returns the names of the resources that an app with a scope can access, with `account` last. The names are derived from
 * the paths of all procedures, so that no resource is missing.
 */
export function resourcesOfScope(contract: AnyContractRouter, scope: Scope) {
  // Excludes `live`: its topics are the resources that the person grants.
  const { live: _, ...grantable } = contract as Record<string, Record<string, AnyContractProcedure>>
  const procedures = Object.values(grantable).flatMap((resource) => Object.values(resource))
  const granted = procedures.filter((procedure) => metaOf(procedure).scope === scope)
  const names = new Set(granted.map((procedure) => resourceOf(procedure['~orpc'].route.path)))
  return [...names].sort((a, b) => Number(a === 'account') - Number(b === 'account'))
}
