import { ORPCError } from '@orpc/client'
import type { Promisable } from '@orpc/shared'
import { ifMatchErrors } from 'tallystick-contract'

import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import type { Items } from '../items.ts'

/** The strong entity tag of a row with a version. */
export const versionTag = ({ version }: { version: number }) => `"${version}"`

/**
 * Returns the entity tags of `If-Match`, in their strong form. Accepts the weak form of a tag, contrary to RFC 9110: the
 * service and compressing proxies make the tag of a compressed answer weak (`W/"1"`), and the tag still identifies one
 * version of the resource.
 */
const tagsOf = (ifMatch = '') =>
  ifMatch.trim() === '*' ? 'any' : ifMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))

function matches(ifMatch: string | undefined, tag: string) {
  const tags = tagsOf(ifMatch)
  return tags === 'any' || tags.includes(tag)
}

const preconditionFailed = () => new ORPCError('PRECONDITION_FAILED', ifMatchErrors.PRECONDITION_FAILED)

/** Runs `change`, and makes sure that the change happens only if `If-Match` matches the current entity tag (otherwise 412). */
export function runIfMatching<Result>(
  { db, headers }: Context,
  { user }: Caller,
  { ifMatch: check }: Items,
  id: unknown,
  change: (overrides: Partial<Context>) => Promisable<Result>,
): Promisable<Result> {
  const ifMatch = headers['if-match']
  if (!check) throw new Error('The contract declares If-Match, but the resource has no entity tag')
  if (check.by === 'statement') return change({ acceptedVersions: versionsOf(ifMatch) })
  return db.transaction(async (tx) => {
    const tag = await check.lockTag(tx, user, id as never)
    if (tag === undefined || !matches(ifMatch, tag)) throw preconditionFailed()
    return change({ db: tx })
  })
}

/** A version with at most nine digits, which PostgreSQL accepts as an `integer`. */
const VERSION_TAG = /^"(0|[1-9]\d{0,8})"$/

/** Returns the versions that `If-Match` accepts. */
function versionsOf(ifMatch: string | undefined) {
  const tags = tagsOf(ifMatch)
  return tags === 'any' ? tags : tags.flatMap((tag) => VERSION_TAG.exec(tag)?.slice(1).map(Number) ?? [])
}

/**
 * Throws 412 if the item does not have a version that `If-Match` accepts. The guard calls this function after an error of
 * a statement, because 412 has priority over 400, and the procedure checks the version only after the input.
 */
export async function requireAcceptedVersion(
  { db, headers }: Context,
  { user }: Caller,
  { ifMatch: check }: Items,
  id: unknown,
) {
  const ifMatch = headers['if-match']
  if (ifMatch === undefined || check?.by !== 'statement') return
  const tag = await check.findTag(db, user, id as never)
  if (tag === undefined || !matches(ifMatch, tag)) throw preconditionFailed()
}
