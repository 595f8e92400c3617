import type { Scope } from 'tallystick-contract'

import { consentPage } from '../../html/account.ts'
import { createPageTranslator } from '../../html/page-translator.ts'
import type { App } from '../../resource.ts'
import { resourceNames } from '../../texts.ts'
import { proceduresOf } from './procedures.ts'

/** The English names of resources on the consent page. */
const englishNames = (app: App): Readonly<Record<string, string | undefined>> => ({
  ...resourceNames.en,
  ...app.resourceNames.en,
})

/** Renders the English consent page for an app that requests a scope. */
export const consentHtml = (app: App, scope: Scope) => {
  const client = { id: 'app', name: 'An app', trusted: false }
  const { scopeResources } = app
  const request = { app: client, redirectUri: 'https://app.example/', scope, scopeResources }
  return consentPage(createPageTranslator(app, 'en'), request, 'ada@example.com')
}

/**
 * Lists the resources that the scope allows an app to access, but that the consent page does not name. `keys` has the keys
 * of names that differ from the key of the resource in the contract.
 */
export const listUnnamedResources = (
  app: App,
  html: string,
  scope: Scope,
  keys: Readonly<Record<string, string | undefined>> = {},
) => {
  const keyOf = (name: string) => keys[name] ?? name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  // `live.watch` gives access to the resources of its topics.
  const granted = proceduresOf(app.contract).filter(
    ({ meta, path }) => meta.scope === scope && path[0] !== 'live',
  )
  const names = new Set(granted.map(({ path: [name = ''] }) => keyOf(name)))
  return [...names].filter((key) => !html.includes(englishNames(app)[key] ?? key))
}

/** Lists the resources without an English name. */
export const listResourcesWithoutName = (app: App) =>
  Object.values(app.scopeResources)
    .flat()
    .filter((name) => !Object.hasOwn(englishNames(app), name))
