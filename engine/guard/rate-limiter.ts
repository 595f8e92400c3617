import { ORPCError } from '@orpc/client'
import { RateLimiterDrizzle, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { RateLimit } from 'tallystick-contract'

import type { Database } from '../db/connection/database.ts'
import { currentTransaction, type OpenTransaction } from '../db/connection/transactions.ts'
import { rateLimitCounters } from '../db/accounts/rate-limits.ts'
import { listIpAddresses } from '../db/accounts/ip-addresses.ts'
import type { ConsumeRateLimit, LimitRefusal } from '../call/context.ts'
import { type RateLimits, rateLimits } from '../app/rate-limits.ts'
import { BLOCK_FACTOR, blockOf, networkOf } from './networks.ts'

/**
 * Creates the function that counts a call against a rate limit, and returns the refusal of a call that exceeds the limit. Limits with
 * `inDatabase` have one count for all instances, in the database. Other limits have a separate count in the memory of each process.
 * `onExceeded` is called for each refused call.
 */
export function createRateLimiter(
  { rateLimits: isEnabled, limitPoints }: { rateLimits: boolean; limitPoints: Record<string, number> },
  limits: RateLimits,
  db: Database,
  onExceeded: (limit: RateLimit) => void = () => undefined,
): ConsumeRateLimit {
  if (!isEnabled) return () => Promise.resolve(undefined)
  const create = ({ name, inDatabase, points, duration }: RateLimit, factor: number) => {
    const options = {
      duration,
      points: (limitPoints[name] ?? points) * factor,
      keyPrefix: factor === 1 ? name : `${name}/48`,
    }
    return inDatabase ? createInDatabase(db, options) : new RateLimiterMemory(options)
  }
  /** Each limit also exists for blocks of IPv6 networks (/48), with BLOCK_FACTOR times the points. */
  const limiters = new Map(
    [...limits].map(([name, limit]) => [
      name,
      { ofKey: create(limit, 1), ofBlock: create(limit, BLOCK_FACTOR) },
    ]),
  )
  const consume = async (limit: RateLimit, limiter: Limiter, key: string) => {
    const transaction = limit.inDatabase && currentTransaction()
    const wait = await (transaction ? countAfter(transaction, limiter, key) : count(limiter, key))
    if (wait === undefined) return undefined
    onExceeded(limit)
    return createRefusal(limit.name, limiter, Math.ceil(wait / 1000))
  }

  return async (limit, key = 'unknown') => {
    const limiter = limiters.get(limit.name)
    if (!limiter) throw new Error(`Unknown rate limit ${limit.name}`)
    const block = key.endsWith('/64') ? blockOf(key) : undefined
    // A key that is an IPv6 network has a block. Other /64 networks share the limit of the /48. A call that exceeds the
    // limit of its own /64 must therefore not consume the limit of the /48.
    const refused = await consume(limit, limiter.ofKey, key)
    return refused ?? (block === undefined ? undefined : consume(limit, limiter.ofBlock, block))
  }
}

type Limiter = RateLimiterDrizzle | RateLimiterMemory

const createInDatabase = (
  storeClient: Database,
  { duration, points, keyPrefix }: Pick<Limiter, 'duration' | 'points' | 'keyPrefix'>,
) =>
  new RateLimiterDrizzle({
    duration,
    points,
    keyPrefix,
    storeClient,
    schema: rateLimitCounters,
    // Housekeeping removes expired rows.
    clearExpiredByTimeout: false,
  })

/** Counts a call. If the limit is exceeded, returns the time until the next call, in milliseconds. */
async function count(limiter: Limiter, key: string) {
  try {
    await limiter.consume(key)
    return undefined
  } catch (exceeded) {
    if (!(exceeded instanceof RateLimiterRes)) throw exceeded
    return exceeded.msBeforeNext
  }
}

/**
 * Compares the count in a transaction with the limit, and counts the call after the end of the transaction, because a rollback would
 * undo the count. Calls in other transactions that are open at the same time are not in the count.
 */
async function countAfter({ db, afterEnd }: OpenTransaction, limiter: Limiter, key: string) {
  const name = limiter.getKey(key)
  const uncounted = afterEnd.filter((each) => each.name === name).length
  const counted = await createInDatabase(db, limiter).get(key)
  if ((counted?.consumedPoints ?? 0) + uncounted >= limiter.points)
    return counted?.msBeforeNext ?? limiter.duration * 1000
  // The transaction has ended: an error of the count must not change its result.
  afterEnd.push({ name, run: () => count(limiter, key).catch(() => undefined) })
  return undefined
}

const createRefusal = (name: string, { points, duration }: Limiter, waitSeconds: number): LimitRefusal => ({
  error: new ORPCError('TOO_MANY_REQUESTS', { message: 'Too many requests; try again later' }),
  headers: {
    'retry-after': String(waitSeconds),
    ratelimit: `"${name}";r=0;t=${waitSeconds}`,
    'ratelimit-policy': `"${name}";q=${points};w=${duration}`,
  },
})

/**
 * Consumes the three limits of a sign-in in this order: the limit of the network, the limit of the account in this
 * network, the limit of the account in all networks. After a refusal, the remaining limits are not consumed. The limit
 * of the account in all networks does not apply to a network in which the person has a session. Otherwise, an attacker
 * in another network could exhaust this limit, so that the person could not sign in.
 */
export async function consumeSignInLimits(
  { consumeRateLimit, db }: { consumeRateLimit: ConsumeRateLimit; db: Database },
  limit: 'codes' | 'tries',
  email: string,
  network = 'unknown',
) {
  const account = email.toLowerCase()
  return (
    (await consumeRateLimit(rateLimits[`${limit}ByAddress`], network)) ??
    (await consumeRateLimit(rateLimits[`${limit}ByBoth`], `${account} ${network}`)) ??
    ((await hasSessionIn(db, account, network)) ? undefined : consumeRateLimit(rateLimits[limit], account))
  )
}

const hasSessionIn = async (db: Database, account: string, network: string) =>
  (await listIpAddresses(db, account)).some((address) => networkOf(address) === network)
