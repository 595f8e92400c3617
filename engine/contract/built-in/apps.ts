import * as z from 'zod'

import { sensitive, signedIn } from '../builders.ts'
import { scopes } from '../meta.ts'
import { Page, requestSchemas, responseSchemas, Success, text, Timestamp } from '../schemas.ts'
import { sessionsTopic } from './sessions.ts'

const example = {
  id: '019b7a2e-5c80-7d3f-9a41-6b0c2d8e4f17',
  clientId: 'https://app.example/client.json',
  name: 'Example app',
  hosts: ['app.example'],
  scopes: ['read' as const],
  lastActive: 1767261600,
  createdAt: 1767175200,
  expiresAt: 1769853600,
}

/** An app to which the person has granted access, or a personal token of the person. */
const App = z
  .object({
    id: z.string().meta({ description: 'Identifies the grant for its revocation' }),
    clientId: z.string().meta({ description: 'For a personal token: `token` or `token:/mcp`' }),
    name: z
      .string()
      .meta({ description: 'The name that the app has given itself, or the label of the token' }),
    hosts: z.array(z.string()).meta({
      description:
        'The host of the metadata document of the app, or the hosts and private schemes of its registered redirect URIs. Empty for an app of OAUTH_CLIENTS and for a token',
    }),
    scopes: z.array(z.enum(scopes)),
    lastActive: Timestamp,
    createdAt: Timestamp,
    expiresAt: Timestamp,
  })
  .register(responseSchemas, { id: 'App', example })
const AppList = z
  .object({ apps: z.array(App), appCount: z.int() })
  .register(responseSchemas, { id: 'AppList', example: { apps: [example], appCount: 1 } })
const RevokeApp = z
  .object({ id: text({ min: 1, max: 100 }) })
  .register(requestSchemas, { id: 'RevokeApp', example: { id: example.id } })

export const apps = {
  /** Without a scope, so that no app can list the others. */
  list: signedIn
    .route({
      method: 'GET',
      path: '/api/apps',
      summary: 'List the apps to which you have granted access',
      description:
        'Returns the apps and the personal tokens with their scopes. The id identifies an entry for `apps.revoke`.',
    })
    .input(Page.optional())
    .output(AppList),
  revoke: sensitive
    // Apps have no topic of their own: clients that watch the sessions read the lists of sessions and apps again.
    .meta({ updates: [sessionsTopic] })
    .errors({ NOT_FOUND: { status: 404, message: 'App not found or already revoked' } })
    .route({
      method: 'POST',
      path: '/api/apps/revoke',
      summary: 'Revoke the access of an app',
      description: 'The tokens of the app end immediately, with their streams.',
    })
    .input(RevokeApp)
    .output(Success),
}
