import { ORPCError } from '@orpc/client'
import ipaddr from 'ipaddr.js'
import { RateLimiterDrizzle, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

import type { Database } from '../db/index.ts'
import { limits as schema } from '../db/limits.ts'
import type { Settings } from './settings.ts'

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
  /** Codes asked for, by account. */
  codes: { points: 10, duration: 900, shared: true },
  /** Codes tried, by account. */
  tries: { points: 30, duration: 900, shared: true },
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
  const entries = Object.entries<Limit>(limits).map(([name, { shared, points, duration }]) => {
    const options = { duration, points: limitPoints[name] ?? points, keyPrefix: name }
    const inDatabase = { ...options, storeClient: db, schema, clearExpiredByTimeout: false }
    return [name, shared ? new RateLimiterDrizzle(inDatabase) : new RateLimiterMemory(options)] as const
  })
  const limiters = new Map<string, RateLimiterDrizzle | RateLimiterMemory>(entries)

  return async (name, by = 'unknown') => {
    const limiter = limiters.get(name)
    try {
      await limiter?.consume(by)
      return undefined
    } catch (exceeded) {
      if (!limiter || !(exceeded instanceof RateLimiterRes)) throw exceeded
      count(name)
      return refusal(name, limiter, Math.ceil(exceeded.msBeforeNext / 1000))
    }
  }
}

const refusal = (name: string, { points, duration }: Limit, wait: number): LimitRefusal => ({
  error: new ORPCError('TOO_MANY_REQUESTS', { message: 'Too many requests; try again later' }),
  headers: {
    'retry-after': String(wait),
    ratelimit: `"${name}";r=0;t=${wait}`,
    'ratelimit-policy': `"${name}";q=${points};w=${duration}`,
  },
})

/** Whom an address is counted as: an IPv6 network of 64 bits is one household, or one machine. */
export function networkOf(address: string | undefined) {
  if (!address?.includes(':')) return address
  return ipaddr.parse(address).toByteArray().slice(0, 8).join('.')
}
