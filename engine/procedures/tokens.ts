import { implement } from '@orpc/server'
import { tokenClientIds, tokens as tokensContract } from 'tallystick-contract/internal'

import * as query from '../db/accounts/personal-tokens.ts'
import type { Context } from '../call/context.ts'
import { withCaller } from '../guard/index.ts'
import { auditSourceOf } from '../call/audit-source.ts'
import { scopesOf } from './apps.ts'
import { toUnixSeconds } from '../values/unix-time.ts'
import type { Resource } from '../app/resource.ts'

const os = implement(tokensContract).$context<Context>().use(withCaller)

const DAY = 24 * 3600_000

const procedures = os.router({
  create: os.create.handler(async ({ context, input: { label, scopes, audience, days }, errors }) => {
    const grant = {
      userId: context.user.id,
      clientId: tokenClientIds[audience],
      // In the order of the contract, and each scope once.
      scope: scopesOf(scopes.join(' ')).join(' '),
      // The list of apps shows the label of a token where a grant has the user agent of its app.
      userAgent: label,
      expiresAt: new Date(Date.now() + days * DAY),
    }
    // The limit counts the tokens of all audiences together.
    const countedClientIds = Object.values(tokenClientIds)
    const created = await query.insert(
      context.db,
      context.session.id,
      grant,
      countedClientIds,
      auditSourceOf(context),
    )
    if (created === 'full') throw errors.TOO_MANY_TOKENS()
    if (created === 'ended') throw errors.UNAUTHORIZED()
    return { ...created, expiresAt: toUnixSeconds(grant.expiresAt) }
  }),
})

export const tokens = {
  description: 'Access tokens for programs without a browser.',
  procedures,
} satisfies Resource
