import { implement } from '@orpc/server'
import { apps as appsContract, scopes } from 'tallystick-contract/internal'

import { findRedirectUris } from '../db/accounts/oauth.ts'
import * as query from '../db/accounts/sessions.ts'
import type { Context } from '../call/context.ts'
import { withCaller } from '../guard/index.ts'
import { auditSourceOf } from '../call/audit-source.ts'
import { readPage } from './lists/pagination.ts'
import { latestFirst } from './sessions.ts'
import { toUnixSeconds } from '../values/unix-time.ts'
import type { Resource } from '../app/resource.ts'

const os = implement(appsContract).$context<Context>().use(withCaller)

const procedures = os.router({
  list: os.list.handler(async (call) => {
    const { db, user } = call.context
    const { rows, total } = await readPage(
      call,
      latestFirst,
      (page) => query.listGrants(db, user.id, page),
      () => query.countGrants(db, user.id),
    )
    const clientIds = rows.flatMap(({ clientId }) => clientId ?? [])
    const redirectUris = await findRedirectUris(db, clientIds)
    return { apps: rows.map((row) => view(row, redirectUris)), appCount: total }
  }),

  revoke: os.revoke.handler(async ({ context, input, errors }) => {
    const { db, user } = context
    if (!(await query.endGrant(db, user.id, input.id, auditSourceOf(context)))) throw errors.NOT_FOUND()
    return { success: true }
  }),
})

export const apps = {
  description: 'Apps, agents and programs that have access to the account of a person.',
  procedures,
} satisfies Resource

function view({ id, userAgent, scope, ...row }: query.SessionRow, redirectUris: Map<string, string[]>) {
  const clientId = row.clientId ?? ''
  // The client id of an app with a client metadata document is the URL of the document.
  const uris = clientId.startsWith('https://') ? [clientId] : (redirectUris.get(clientId) ?? [])
  return {
    id,
    clientId,
    // A grant stores the name of the app in place of a user agent.
    name: userAgent ?? '',
    hosts: [...new Set(uris.map(hostOrScheme))],
    scopes: scopesOf(scope),
    lastActive: toUnixSeconds(row.updatedAt),
    createdAt: toUnixSeconds(row.createdAt),
    expiresAt: toUnixSeconds(row.expiresAt),
  }
}

/** Returns the host of a web address, or the private scheme of an app on the device, for example `com.example.app:`. */
function hostOrScheme(uri: string) {
  const { protocol, host } = new URL(uri)
  return ['https:', 'http:'].includes(protocol) ? host : protocol
}

/** Returns the scopes in the column `scope` of a grant. */
export const scopesOf = (granted: string | null) => {
  const names = granted?.split(' ') ?? []
  return scopes.filter((scope) => names.includes(scope))
}
