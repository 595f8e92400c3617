import type { AnyContractProcedure } from '@orpc/contract'

import { metaOf, type Scope } from './base.ts'
import { contract } from './index.ts'

/** Names of resources that differ from the path segment. The path of the account is `/api/me`. */
const names: Record<string, string> = { me: 'account' }

const resources: Record<string, Record<string, AnyContractProcedure>> = contract
const procedures = Object.values(resources).flatMap((resource) => Object.values(resource))

/**
 * Returns the resources that an app with a scope can access, as text for the consent page and the OpenAPI document:
 * `tasks, notes and account`. The names are derived from the paths of all procedures, so that no resource is missing.
 */
export function resourcesOf(scope: Scope) {
  const granted = procedures.filter((procedure) => metaOf(procedure).scope === scope)
  const segments = granted.map((procedure) => procedure['~orpc'].route.path?.split('/')[2] ?? '')
  const found = new Set(segments.map((segment) => names[segment] ?? segment.replaceAll('-', ' ')))
  const accountLast = [...found].sort((a, b) => Number(a === 'account') - Number(b === 'account'))
  return new Intl.ListFormat('en-GB').format(accountLast)
}
