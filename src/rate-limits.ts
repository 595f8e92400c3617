export interface RateLimit {
  /** Number of requests allowed in one period. */
  points: number
  /** Length of the period, in seconds. */
  duration: number
  /**
   * Whether all instances share one count, which is stored in the database. Used for limits that protect accounts,
   * mail, tokens or expensive reads. By default, each process has its own count in memory.
   */
  shared?: true
  /**
   * Whether calls are counted by account. By default, calls are counted by network: the IPv4 address, or the /64 of an
   * IPv6 address.
   */
  personal?: true
}

/**
 * The rate limits. The values are higher than normal use requires. The setting `LIMITS` can override the points of a
 * limit.
 */
export const rateLimits = {
  /** Increments and decrements of the counter, by network. */
  steps: { points: 6000, duration: 60 },
  /** Reservations, by network. */
  reservations: { points: 1200, duration: 60 },
  /** Changes of data, by account. */
  writes: { points: 3000, duration: 60, personal: true },
  /** Exports of an account, by account. Each export reads all data of the account. */
  exports: { points: 5, duration: 3600, personal: true, shared: true },
  /** OAuth grants, by account. Each grant adds an entry to the audit trail. */
  grants: { points: 60, duration: 3600, personal: true, shared: true },
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
} satisfies Record<string, RateLimit>

export type RateLimitName = keyof typeof rateLimits
