import type { AnyContractProcedure } from '@orpc/contract'

import { metaOf, type Scope } from './meta.ts'
import { contract } from './index.ts'

/** Names of resources that differ from the path segment. The path of the account is `/api/me`. */
const names: Record<string, string> = { me: 'account' }

const resources: Record<string, Record<string, AnyContractProcedure>> = contract
// Excludes `live`: its topics are the resources that the person grants.
const { live: _, ...granting } = resources
const procedures = Object.values(granting).flatMap((resource) => Object.values(resource))

/**
 * Returns the names of the resources that an app with a scope can access. The names are derived from the paths of all
 * procedures, so that no resource is missing.
 */
export function resourceNamesOf(scope: Scope) {
  const granted = procedures.filter((procedure) => metaOf(procedure).scope === scope)
  const segments = granted.map((procedure) => procedure['~orpc'].route.path?.split('/')[2] ?? '')
  const found = new Set(segments.map((segment) => names[segment] ?? segment.replaceAll('-', ' ')))
  return [...found].sort((a, b) => Number(a === 'account') - Number(b === 'account'))
}

/** Returns the resources of a scope as text for the OpenAPI document: `tasks, notes and account`. */
export const resourcesOf = (scope: Scope) => new Intl.ListFormat('en-GB').format(resourceNamesOf(scope))
