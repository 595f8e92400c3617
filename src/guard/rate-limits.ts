import { ORPCError } from '@orpc/client'
import ipaddr from 'ipaddr.js'
import { RateLimiterDrizzle, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

import type { Database } from '../../db/database.ts'
import { limits as schema } from '../../db/limits.ts'
import { listAddresses } from '../../db/networks.ts'
import type { Settings } from '../settings.ts'

const { IPv6 } = ipaddr

interface Limit {
  /** How often. */
  points: number
  /** In how many seconds. */
  duration: number
  /** Counted in the database, for all instances: what guards an account, sends mail, issues tokens or reads a lot. */
  shared?: true
  /** Counted by person, and not by address. */
  personal?: true
}

/** What is done only so often, and what ordinary use never meets. The setting `LIMITS` has other points. */
export const limits = {
  /** Steps of the counter, by address. */
  steps: { points: 6000, duration: 60 },
  /** By address. */
  reservations: { points: 1200, duration: 60 },
  /** Changes. */
  writes: { points: 3000, duration: 60, personal: true },
  /** Exports of an account: each reads all that is kept of a person. */
  exports: { points: 5, duration: 3600, personal: true, shared: true },
  /** Apps let in. Each grant is an entry in the audit trail. */
  grants: { points: 60, duration: 3600, personal: true, shared: true },
  /** Codes asked for, by address; consumed before those of the account. */
  codesByAddress: { points: 10, duration: 60, shared: true },
  /** Codes asked for from one address for one account: one address cannot use up the limit of an account. */
  codesByBoth: { points: 5, duration: 900, shared: true },
  /** Codes asked for, by account. */
  codes: { points: 10, duration: 900, shared: true },
  /** Codes tried, by address; consumed before those of the account. */
  triesByAddress: { points: 30, duration: 60, shared: true },
  /** Codes tried from one address for one account: one address cannot use up the limit of an account. */
  triesByBoth: { points: 15, duration: 900, shared: true },
  /** Codes tried, by account. */
  tries: { points: 30, duration: 900, shared: true },
  /** Other operations of better-auth, by address. */
  auth: { points: 1200, duration: 60 },
  /** Apps registered, by address. */
  registrations: { points: 60, duration: 3600, shared: true },
  /** Documents of apps fetched from their hosts, by the address that asks. */
  documents: { points: 30, duration: 60, shared: true },
  /** Tokens asked for and revoked, by address. */
  tokens: { points: 600, duration: 60, shared: true },
} satisfies Record<string, Limit>

export type LimitName = keyof typeof limits

export const isPersonal = (name: LimitName) => 'personal' in limits[name]

/** Counts one more. Answers the refusal, and the headers that go with it, where that is one too many. */
export type Spend = (limit: LimitName, by: string | undefined) => Promise<LimitRefusal | undefined>

export interface LimitRefusal {
  error: ORPCError<'TOO_MANY_REQUESTS', undefined>
  headers: Record<string, string>
}

export function createSpend(
  { rateLimits, limitPoints }: Settings,
  db: Database,
  count: (limit: LimitName) => void = () => undefined,
): Spend {
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
export async function spendSignIn(
  { spend, db }: { spend: Spend; db: Database },
  limit: 'codes' | 'tries',
  email: string,
  network = 'unknown',
) {
  const account = email.toLowerCase()
  return (
    (await spend(`${limit}ByAddress`, network)) ??
    (await spend(`${limit}ByBoth`, `${account} ${network}`)) ??
    ((await hasSessionIn(db, account, network)) ? undefined : spend(limit, account))
  )
}

const hasSessionIn = async (db: Database, account: string, network: string) =>
  (await listAddresses(db, account)).some((address) => networkOf(address) === network)
