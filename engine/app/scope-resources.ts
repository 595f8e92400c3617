import { metaOf, type Scope } from 'tallystick-contract/internal'

import type { TextByLanguage } from '../texts/catalogues.ts'
import type { Resource, Resources } from './resource.ts'

/** Returns the names of a resource for the consent page. For `oldBooks` in the contract, the default is `old books`. */
export const namesOf = (name: string, { names }: Resource): TextByLanguage =>
  names ?? { en: name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`) }

/**
 * Returns the names of the resources that an app with a scope can access, with the account last. Resources with the same
 * English name have one entry.
 */
export function resourcesOfScope(resources: Resources, scope: Scope): TextByLanguage[] {
  // `live` is not named: it gives access only to topics of the other resources.
  const { live: _, account, ...others } = resources
  const granted = Object.entries({ ...others, ...(account && { account }) }).filter(([, { procedures }]) =>
    Object.values(procedures).some((procedure) => metaOf(procedure).scope === scope),
  )
  const names = granted.map(([name, resource]) => namesOf(name, resource))
  return names.filter(({ en }, index) => names.findIndex((other) => other.en === en) === index)
}
