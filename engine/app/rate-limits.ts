import type { AnyContractRouter } from '@orpc/contract'
import { traverseContractProcedures } from '@orpc/server'
import { limitsOf, metaOf, type RateLimit } from 'tallystick-contract/internal'

import type { Endpoints } from './endpoint.ts'
import { hasMails, type MailTemplates } from './mail-template.ts'

type Declarations = Record<string, Omit<RateLimit, 'name'>>

const withNames = <const All extends Declarations>(all: All) =>
  Object.fromEntries(Object.entries(all).map(([name, limit]) => [name, { name, ...limit }])) as {
    [Name in keyof All]: RateLimit
  }

/**
 * The rate limits of requests that call no procedure, and of steps of a sign-in. The values are higher than normal use requires.
 * `perAccount` counts by the caller. Before a sign-in there is no caller, and the endpoint gives the key. The setting `LIMITS` has the
 * names, so they must not change: `ByAddress` counts by network, and `ByBoth` by network and account.
 */
export const rateLimits = withNames({
  /**
   * Requests for sign-in codes, by network. Checked before the limits by account, so that a refused call does not count
   * for the account.
   */
  codesByAddress: { points: 10, duration: 60, inDatabase: true },
  /**
   * Requests for sign-in codes, by combination of network and account. Lower than `codes`, so that one network cannot
   * exhaust the limit of an account.
   */
  codesByBoth: { points: 5, duration: 900, inDatabase: true },
  /** Requests for sign-in codes, by account. */
  codes: { points: 10, duration: 900, inDatabase: true },
  /**
   * Attempts to enter a sign-in code, by network. Checked before the limits by account, so that a refused call does not
   * count for the account.
   */
  triesByAddress: { points: 30, duration: 60, inDatabase: true },
  /**
   * Attempts to enter a sign-in code, by combination of network and account. Lower than `tries`, so that one network
   * cannot exhaust the limit of an account.
   */
  triesByBoth: { points: 15, duration: 900, inDatabase: true },
  /** Attempts to enter a sign-in code, by account. */
  tries: { points: 30, duration: 900, inDatabase: true },
  /** Codes of apps on other devices that people enter, by network. Checked before the limit by account. */
  deviceCodesByAddress: { points: 100, duration: 900, inDatabase: true },
  /** Codes of apps on other devices that a person enters, by account. */
  deviceCodes: { points: 30, duration: 900, perAccount: true, inDatabase: true },
  /** Requests of apps on devices without a browser, by network. */
  deviceAuthorizations: { points: 60, duration: 600, inDatabase: true },
  /** Operations of better-auth other than the sign-in, by network. */
  auth: { points: 1200, duration: 60 },
  /** Registrations of OAuth clients, by network. */
  registrations: { points: 60, duration: 3600, inDatabase: true },
  /** Fetches of client metadata documents, by the network of the caller. */
  documents: { points: 30, duration: 60, inDatabase: true },
  /** Token requests and revocations, by network. */
  tokens: { points: 600, duration: 60, inDatabase: true },
})

/** The rate limits of the e-mails of an application, counted by each process. */
export const mailLimits = withNames({
  /** E-mails that the calls of a person send. */
  mailsBySender: { points: 100, duration: 3600, perAccount: true },
  /** E-mails of calls without a person, by network: such calls cannot exhaust `mails` from one network. */
  mailsByNetwork: { points: 50, duration: 3600 },
  /** E-mails of a person to an address. */
  mailsToRecipient: { points: 20, duration: 3600 },
  /** All e-mails. */
  mails: { points: 1000, duration: 3600 },
})

/** Rate limits by name. The setting `LIMITS` can override the points of a limit. */
export type RateLimits = ReadonlyMap<string, RateLimit>

/** Returns the rate limits of an application: those of its procedures and endpoints, and of the engine. */
export function collectRateLimits(
  contract: AnyContractRouter,
  { endpoints, mails }: { endpoints: Endpoints; mails: MailTemplates },
): RateLimits {
  const limits = new Map<string, RateLimit>()
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure }) => {
    for (const limit of limitsOf(metaOf(procedure))) limits.set(limit.name, limit)
  })
  for (const { rateLimit } of Object.values(endpoints)) limits.set(rateLimit.name, rateLimit)
  for (const limit of Object.values({ ...rateLimits, ...(hasMails(mails) && mailLimits) }))
    limits.set(limit.name, limit)
  return limits
}
