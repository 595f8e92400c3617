import type { Scope } from 'tallystick-contract/internal'

import { consentPage } from 'tallystick/internal/html/account'
import { createPageTranslator } from 'tallystick/internal/html/page-translator'
import type { App } from 'tallystick/internal/app/resource'
import { namesOf } from 'tallystick/internal/app/scope-resources'
import { proceduresOf } from './procedures.ts'

/** Renders the English consent page for an app that requests a scope. */
export const consentHtml = (app: App, scope: Scope) => {
  const client = { id: 'app', name: 'An app', trusted: false }
  const { scopeResources } = app
  const request = { app: client, redirectUri: 'https://app.example/', scope, scopeResources }
  return consentPage(createPageTranslator(app, 'en'), request, 'ada@example.com')
}

/**
 * Lists the resources that a scope allows an app to access, but that the consent page does not name. `live.watch` gives
 * access to the resources of its topics.
 */
export const listUnnamedResources = ({ contract, resources }: App, html: string, scope: Scope) => {
  const granted = proceduresOf(contract).filter(({ meta }) => meta.scope === scope)
  const names = new Set(granted.map(({ path: [name = ''] }) => name))
  return Object.entries(resources)
    .filter(([name]) => names.has(name) && name !== 'live')
    .filter(([name, resource]) => !html.includes(namesOf(name, resource).en))
    .map(([name]) => name)
}
