import { ORPCError } from '@orpc/client'
import ipaddr from 'ipaddr.js'
import { RateLimiterDrizzle, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

import type { Database } from '../../db/database.ts'
import { limits as schema } from '../../db/limits.ts'
import { listIpAddresses } from '../../db/networks.ts'
import type { ConsumeRateLimit, LimitRefusal } from '../context.ts'
import { type Limit, type LimitName, limits } from '../settings.ts'

const { IPv6 } = ipaddr

export const isPersonal = (name: LimitName) => 'personal' in limits[name]

export function createRateLimiter(
  { rateLimits, limitPoints }: { rateLimits: boolean; limitPoints: Record<string, number> },
  db: Database,
  count: (limit: LimitName) => void = () => undefined,
): ConsumeRateLimit {
  if (!rateLimits) return () => Promise.resolve(undefined)
  const create = (name: string, { shared, points, duration }: Limit, factor: number) => {
    const options = { duration, points: (limitPoints[name] ?? points) * factor }
    const keyPrefix = factor === 1 ? name : `${name}/48`
    return shared
      ? new RateLimiterDrizzle({
          ...options,
          keyPrefix,
          storeClient: db,
          schema,
          clearExpiredByTimeout: false,
        })
      : new RateLimiterMemory({ ...options, keyPrefix })
  }
  const limiters = new Map(
    Object.entries<Limit>(limits).map(([name, limit]) => [
      name,
      { one: create(name, limit, 1), block: create(name, limit, BLOCK_FACTOR) },
    ]),
  )
  const consume = async (name: LimitName, limiter: Limiter | undefined, by: string) => {
    try {
      await limiter?.consume(by)
      return undefined
    } catch (exceeded) {
      if (!limiter || !(exceeded instanceof RateLimiterRes)) throw exceeded
      count(name)
      return refusal(name, limiter, Math.ceil(exceeded.msBeforeNext / 1000))
    }
  }

  return async (name, by = 'unknown') => {
    const limiter = limiters.get(name)
    const block = blockOf(by)
    // The smaller network first: while it is refused, its neighbours lose nothing.
    const refused = await consume(name, limiter?.one, by)
    return refused ?? (block === undefined ? undefined : consume(name, limiter?.block, block))
  }
}

type Limiter = RateLimiterDrizzle | RateLimiterMemory

const refusal = (name: string, { points, duration }: Limit, wait: number): LimitRefusal => ({
  error: new ORPCError('TOO_MANY_REQUESTS', { message: 'Too many requests; try again later' }),
  headers: {
    'retry-after': String(wait),
    ratelimit: `"${name}";r=0;t=${wait}`,
    'ratelimit-policy': `"${name}";q=${points};w=${duration}`,
  },
})

/** The network that an address is counted as: an IPv6 /64, which is one household or one machine, or an IPv4 address. */
export const networkOf = (address: string | undefined) =>
  address?.includes(':') ? `${IPv6.networkAddressFromCIDR(`${address}/64`).toString()}/64` : address

/** How many /64 networks of one IPv6 /48 may use up their limits: a /48 has 65,536, and one customer may own it. */
const BLOCK_FACTOR = 16

const blockOf = (network: string) => {
  const [, address] = /^([\da-f:]+)\/64$/.exec(network) ?? []
  return address === undefined ? undefined : `${IPv6.networkAddressFromCIDR(`${address}/48`).toString()}/48`
}

/**
 * Consumes the limits of a sign-in in order: address, address and account, account. A call that is refused consumes nothing
 * of the limits after it. The account's limit is not for a network in which the person has a session, so that callers
 * elsewhere cannot keep a person who is at home from signing in.
 */
export async function consumeSignInLimits(
  { consumeRateLimit, db }: { consumeRateLimit: ConsumeRateLimit; db: Database },
  limit: 'codes' | 'tries',
  email: string,
  network = 'unknown',
) {
  const account = email.toLowerCase()
  return (
    (await consumeRateLimit(`${limit}ByAddress`, network)) ??
    (await consumeRateLimit(`${limit}ByBoth`, `${account} ${network}`)) ??
    ((await hasSessionIn(db, account, network)) ? undefined : consumeRateLimit(limit, account))
  )
}

const hasSessionIn = async (db: Database, account: string, network: string) =>
  (await listIpAddresses(db, account)).some((address) => networkOf(address) === network)
