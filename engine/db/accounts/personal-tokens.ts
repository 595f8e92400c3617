import { randomBytes } from 'node:crypto'

import { and, eq, inArray, isNotNull } from 'drizzle-orm'

import type * as audit from './audit.ts'
import { lockPerson } from './users.ts'
import type { Database } from '../connection/database.ts'
import { digestOf } from './digest.ts'
import * as grants from './grants.ts'
import { createCallerLookup } from './caller-lookup.ts'
import { isActive, sessions } from './sessions.ts'

// A personal token is a grant that the person creates, for programs without a browser. The column `token` contains only
// the SHA-256 digest of the token, so a leaked copy of the database contains no usable token.

/** Every personal token starts with this prefix. Programs that search for leaked secrets recognize the prefix. */
const PREFIX = 'tally_'

const TOKEN_PATTERN = new RegExp(`^${PREFIX}[\\w-]{43}$`)

export const isPersonalToken = (token: string) => TOKEN_PATTERN.test(token)

/** Maximum number of active personal tokens of one person. */
export const MAX_TOKENS = 50

/**
 * Creates a token with 256 random bits. `sessionId` is the session in which the person is signed in, and
 * `tokenClientIds` are the client ids that mark a personal token, one for each audience. Returns `full` if the person has
 * MAX_TOKENS active tokens, and `ended` if the session has ended.
 */
export const insert = (
  db: Database,
  sessionId: string,
  grant: grants.NewGrant,
  tokenClientIds: string[],
  source: audit.Source,
) =>
  db.transaction(async (tx) => {
    await lockPerson(tx, grant.userId)
    const isToken = and(
      eq(sessions.userId, grant.userId),
      inArray(sessions.clientId, tokenClientIds),
      isActive,
    )
    if ((await tx.$count(sessions, isToken)) >= MAX_TOKENS) return 'full'
    const token = PREFIX + randomBytes(32).toString('base64url')
    const given = await grants.give(tx, sessionId, grant, source, digestOf(token))
    return given ? { id: given.id, token } : 'ended'
  })

// Needs none of these client ids: in the column `token`, only personal tokens have a digest.
const findByDigest = createCallerLookup(
  'personal_tokens_find_by_digests',
  'token',
  isNotNull(sessions.clientId),
)

/** Finds the active personal token, and the person who created the token. */
export const find = (db: Database, token: string) => findByDigest(db, digestOf(token))
