import { randomBytes } from 'node:crypto'

import { and, eq, inArray, isNotNull } from 'drizzle-orm'

import type * as audit from './audit.ts'
import { lockPerson } from './users.ts'
import type { Database } from './database.ts'
import { digestOf } from './digest.ts'
import * as grants from './grants.ts'
import { createCallerLookup, isActive, sessions } from './sessions.ts'

// A personal token is a grant that the person creates, for programs without a browser. The column `token` contains only
// the SHA-256 digest of the token, so a leaked copy of the database contains no usable token.

/** Every personal token starts with this prefix. Programs that search for leaked secrets recognize the prefix. */
const PREFIX = 'tally_'

const pattern = new RegExp(`^${PREFIX}[\\w-]{43}$`)

/** Maximum number of personal tokens of one person. */
export const MAX_TOKENS = 50

export const isPersonalToken = (token: string) => pattern.test(token)

/**
 * Creates a token with 256 random bits, in a session of the person. `clientIds` are the client ids of all personal
 * tokens. Returns `full` if the person has MAX_TOKENS active tokens, and `ended` if the session has ended.
 */
export const insert = (
  db: Database,
  sessionId: string,
  grant: Omit<grants.NewGrant, 'token'>,
  clientIds: string[],
  source: audit.Source,
) =>
  db.transaction(async (tx) => {
    await lockPerson(tx, grant.userId)
    const isCounted = and(eq(sessions.userId, grant.userId), inArray(sessions.clientId, clientIds), isActive)
    if ((await tx.$count(sessions, isCounted)) >= MAX_TOKENS) return 'full'
    const token = PREFIX + randomBytes(32).toString('base64url')
    const session = await grants.give(tx, sessionId, { ...grant, token: digestOf(token) }, source)
    return session ? { id: session.id, token } : 'ended'
  })

const findByDigest = createCallerLookup(
  'personal_tokens_find_by_digests',
  'token',
  isNotNull(sessions.clientId),
)

/** Finds the active personal token, and the person who created the token. */
export const find = (db: Database, token: string) => findByDigest(db, digestOf(token))
