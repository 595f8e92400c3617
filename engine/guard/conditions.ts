import { ORPCError } from '@orpc/client'
import type { Promisable } from '@orpc/shared'
import { ifMatchErrors } from 'tallystick-contract/internal'

import type { Database } from '../db/connection/database.ts'
import type { Caller } from '../call/caller.ts'
import type { Context } from '../call/context.ts'
import type { Items } from '../call/items.ts'

/**
 * The strong entity tag of a row with a version.
 *
 * @example
 * reply.set('etag', versionTag(book)) // "3"
 */
export const versionTag = ({ version }: { version: number }) => `"${version}"`

/** Maximum number of entity tags in `If-Match`. A statement compares the row with each of them. */
const MAX_TAGS = 50

const tooManyTags = () =>
  new ORPCError('BAD_REQUEST', { message: `If-Match may have at most ${MAX_TAGS} entity tags` })

/**
 * Returns the entity tags of `If-Match`, in their strong form. Throws 400 if there are too many. Accepts the weak form of a tag,
 * contrary to RFC 9110: the service and compressing proxies make the tag of a compressed answer weak (`W/"1"`), and the tag still
 * identifies one version of the resource.
 */
function tagsOf(ifMatch = '') {
  if (ifMatch.trim() === '*') return 'any'
  const tags = ifMatch.split(',', MAX_TAGS + 1)
  if (tags.length > MAX_TAGS) throw tooManyTags()
  return tags.map((tag) => tag.trim().replace(/^W\//, ''))
}

type Tags = ReturnType<typeof tagsOf>

const matches = (tags: Tags, tag: string) => tags === 'any' || tags.includes(tag)

const preconditionFailed = () => new ORPCError('PRECONDITION_FAILED', ifMatchErrors.PRECONDITION_FAILED)

/**
 * Runs `change`, and makes sure that the change happens only if `If-Match` matches the current entity tag (otherwise 412). If the
 * statement of the change compares the version (`isInStatement`), `change` receives the accepted versions, and nothing is locked.
 */
export function runIfMatching<Result>(
  { transaction, headers }: Context,
  { user }: Caller,
  { items: { ifMatch: check }, id, isInStatement }: { items: Items; id: unknown; isInStatement: boolean },
  change: (overrides: Partial<Context>) => Promisable<Result>,
): Promisable<Result> {
  const tags = tagsOf(headers['if-match'])
  if (!check) throw new Error('The contract declares If-Match, but the resource has no entity tag')
  if (isInStatement && check.findTag) return change({ acceptedVersions: versionsOf(tags) })
  return transaction(async (tx) => {
    const tag = await check.lockTag(tx.db, user, id as never)
    if (tag === undefined || !matches(tags, tag)) throw preconditionFailed()
    return change(tx)
  })
}

/** A version with at most nine digits, which PostgreSQL accepts as an `integer`. */
const VERSION_TAG = /^"(0|[1-9]\d{0,8})"$/

/** Returns the versions that `If-Match` accepts. */
const versionsOf = (tags: Tags) =>
  tags === 'any' ? tags : tags.flatMap((tag) => VERSION_TAG.exec(tag)?.slice(1).map(Number) ?? [])

/**
 * Throws 412 if the item does not have a version that `If-Match` accepts. For calls whose statement compares the version: the guard
 * calls this function after an error, because 412 has priority over the error, for example over 400 for the input. Does nothing
 * without `findTag`, because `runIfMatching` has then compared the tag before the procedure.
 */
export async function requireAcceptedVersion(
  db: Database,
  headers: Context['headers'],
  { user }: Caller,
  { ifMatch: check }: Items,
  id: unknown,
) {
  const ifMatch = headers['if-match']
  if (ifMatch === undefined || !check?.findTag) return
  const tag = await check.findTag(db, user, id as never)
  if (tag === undefined || !matches(tagsOf(ifMatch), tag)) throw preconditionFailed()
}
