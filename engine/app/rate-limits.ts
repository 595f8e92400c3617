import type { AnyContractRouter } from '@orpc/contract'
import { traverseContractProcedures } from '@orpc/server'
import { limitsOf, metaOf, type RateLimit } from 'tallystick-contract/internal'

type Declarations = Record<string, Omit<RateLimit, 'name'>>

const withNames = <const All extends Declarations>(all: All) =>
  Object.fromEntries(Object.entries(all).map(([name, limit]) => [name, { name, ...limit }])) as {
    [Name in keyof All]: RateLimit
  }

/**
 * The rate limits of requests that call no procedure, and of steps of a sign-in. The values are higher than normal use
 * requires.
 */
export const rateLimits = withNames({
  /**
   * Requests for sign-in codes, by network. Checked before the limits by account, so that a refused call does not count
   * for the account.
   */
  codesByAddress: { points: 10, duration: 60, shared: true },
  /**
   * Requests for sign-in codes, by combination of network and account. Lower than `codes`, so that one network cannot
   * exhaust the limit of an account.
   */
  codesByBoth: { points: 5, duration: 900, shared: true },
  /** Requests for sign-in codes, by account. */
  codes: { points: 10, duration: 900, shared: true },
  /**
   * Attempts to enter a sign-in code, by network. Checked before the limits by account, so that a refused call does not
   * count for the account.
   */
  triesByAddress: { points: 30, duration: 60, shared: true },
  /**
   * Attempts to enter a sign-in code, by combination of network and account. Lower than `tries`, so that one network
   * cannot exhaust the limit of an account.
   */
  triesByBoth: { points: 15, duration: 900, shared: true },
  /** Attempts to enter a sign-in code, by account. */
  tries: { points: 30, duration: 900, shared: true },
  /** Codes of apps on other devices that people enter, by network. Checked before the limit by account. */
  deviceCodesByAddress: { points: 100, duration: 900, shared: true },
  /** Codes of apps on other devices that a person enters, by account. */
  deviceCodes: { points: 30, duration: 900, personal: true, shared: true },
  /** Requests of apps on devices without a browser, by network. */
  deviceAuthorizations: { points: 60, duration: 600, shared: true },
  /** Operations of better-auth other than the sign-in, by network. */
  auth: { points: 1200, duration: 60 },
  /** Registrations of OAuth clients, by network. */
  registrations: { points: 60, duration: 3600, shared: true },
  /** Fetches of client metadata documents, by the network of the caller. */
  documents: { points: 30, duration: 60, shared: true },
  /** Token requests and revocations, by network. */
  tokens: { points: 600, duration: 60, shared: true },
})

/** Rate limits by name. The setting `LIMITS` can override the points of a limit. */
export type RateLimits = ReadonlyMap<string, RateLimit>

/** Returns all rate limits of an application: the limits of procedures first. */
export function collectRateLimits(contract: AnyContractRouter): RateLimits {
  const limits = new Map<string, RateLimit>()
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure }) => {
    for (const limit of limitsOf(metaOf(procedure))) limits.set(limit.name, limit)
  })
  for (const limit of Object.values(rateLimits)) limits.set(limit.name, limit)
  return limits
}
