import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

import proxyAddr from 'proxy-addr'
import { z } from 'zod'

import { makeFolderPrivate, makePrivate } from '../db/private.ts'
import { isConfiguredClient } from './identity/client-metadata.ts'

export interface Limit {
  /** How often. */
  points: number
  /** In how many seconds. */
  duration: number
  /** Counted in the database, for all instances: what guards an account, sends mail, issues tokens or reads a lot. */
  shared?: true
  /** Counted by person, and not by address. */
  personal?: true
}

/** The rate limits. Ordinary use does not reach them. The setting `LIMITS` changes their points. */
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

const list = z
  .string()
  .default('')
  .transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean),
  )

const origin = z
  .url({ protocol: /^https?$/ })
  .transform((url) => new URL(url))
  .refine((url) => url.pathname === '/' && !url.search && !url.hash, 'Must be an origin, without a path')
  .transform((url) => url.origin)

const address = z.string().regex(/^[^\s@]+@[^\s@]+$/, 'Must be an address, or a list of them')

const areProxies = (addresses: string[]) => {
  try {
    return Boolean(proxyAddr.compile(addresses))
  } catch {
    return false
  }
}

const pointsOf = (entry: string): [string, number] => {
  const [name = '', points = ''] = entry.split('=')
  return [name, Number(points)]
}
const areLimits = (entries: string[]) =>
  entries.map(pointsOf).every(([name, points]) => name in limits && Number.isInteger(points) && points > 0)

/** Characters of a secret. */
const MIN_SECRET = 32

const Environment = z
  .object({
    NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
    HOST: z.string().default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
    BASE_URL: origin.optional(),
    DATABASE_URL: z
      .string()
      .regex(/^(postgres(ql)?:\/\/.+|memory:)$/, 'Must be postgres://… or memory:')
      .optional(),
    DATABASE_DIRECT_URL: z
      .string()
      .regex(/^postgres(ql)?:\/\/.+$/, 'Must be postgres://…')
      .optional(),
    DATA_DIR: z.string().default('.data'),
    AUTH_SECRET: z.string().min(MIN_SECRET, `Must have at least ${MIN_SECRET} characters`).optional(),
    SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
    MAIL_FROM: z.string().optional(),
    ADMIN_EMAILS: list.pipe(z.array(address.toLowerCase())),
    TRUSTED_ORIGINS: list.pipe(z.array(origin)),
    TRUSTED_PROXIES: list.refine(areProxies, 'Must be addresses or ranges of proxies'),
    OAUTH_CLIENTS: list.refine(
      (entries) => entries.every(isConfiguredClient),
      'Must be id=redirect-uri, or a list of them',
    ),
    SERVICE: z.string().default(`${hostname()}:${process.pid}`),
    RELEASE: z.string().default('local'),
    LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    LIMITS: list.refine(areLimits, 'Must be name=number, or a list of them, of the limits that there are'),
    RATE_LIMITS: z.enum(['on', 'off']).default('on'),
    COMPILED: z.enum(['on', 'off']).default('on'),
    METRICS_HOST: z.string().default('127.0.0.1'),
    METRICS_PORT: z.coerce.number().int().min(1).max(65_535).optional(),
    WORKERS: z.coerce.number().int().min(1).max(256).default(1),
    MAX_REQUESTS: z.coerce.number().int().min(1).default(1000),
    MAX_INCOMPLETE: z.coerce.number().int().min(1).default(256),
    ANSWER_TIMEOUT: z.coerce.number().positive().max(3600).default(15),
    AUDIT_RETENTION: z.coerce.number().int().min(30).max(3650).default(365),
    STOP_DELAY: z.coerce.number().min(0).max(60).default(0),
  })
  .superRefine((env, context) => {
    if (env.WORKERS > 1 && !env.DATABASE_URL?.startsWith('postgres')) {
      const message = 'More than one need a DATABASE_URL: an embedded database belongs to one process'
      context.addIssue({ code: 'custom', path: ['WORKERS'], message })
    }
    if (env.DATABASE_DIRECT_URL && !env.DATABASE_URL?.startsWith('postgres')) {
      const message = 'Goes with the DATABASE_URL of a pooler'
      context.addIssue({ code: 'custom', path: ['DATABASE_DIRECT_URL'], message })
    }
    if (env.NODE_ENV !== 'production') return
    for (const name of ['BASE_URL', 'AUTH_SECRET', 'SMTP_URL', 'MAIL_FROM'] as const)
      if (env[name] === undefined)
        context.addIssue({ code: 'custom', path: [name], message: 'Must be set in production' })
  })

export type Settings = ReturnType<typeof readSettings>

/** Environment to typed settings. Empty counts as unset. Throws one error that names every mistake. */
export function readSettings(environment: Record<string, string | undefined>) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const { success, data: env, error } = Environment.safeParse(given)
  if (!success) {
    const mistakes = error.issues.map(({ path, message }) => `  ${path.join(' ')}: ${message}`)
    throw new Error(['The settings cannot be used:', ...mistakes].join('\n'))
  }
  return {
    production: env.NODE_ENV === 'production',
    host: env.HOST,
    port: env.PORT,
    /** The public origin. */
    baseUrl: env.BASE_URL ?? `http://localhost:${env.PORT}`,
    databaseUrl: env.DATABASE_URL ?? join(env.DATA_DIR, 'db'),
    /** Where `databaseUrl` is that of a pooler: the server behind it. */
    directUrl: env.DATABASE_DIRECT_URL,
    authSecret: env.AUTH_SECRET ?? keptSecret(env.DATA_DIR),
    smtpUrl: env.SMTP_URL,
    mailFrom: env.MAIL_FROM ?? 'Tallystick <tallystick@localhost>',
    outbox: join(env.DATA_DIR, 'outbox'),
    adminEmails: env.ADMIN_EMAILS,
    trustedOrigins: env.TRUSTED_ORIGINS,
    trustedProxies: env.TRUSTED_PROXIES,
    oauthClients: env.OAUTH_CLIENTS,
    service: env.SERVICE,
    release: env.RELEASE,
    logLevel: env.LOG_LEVEL,
    rateLimits: env.RATE_LIMITS === 'on',
    /** How often, by the name of a limit, in place of the points above. */
    limitPoints: Object.fromEntries(env.LIMITS.map(pointsOf)),
    /** Whether the usual request takes the compiled path, or every request oRPC's stock handlers. */
    compiled: env.COMPILED === 'on',
    metricsHost: env.METRICS_HOST,
    /** Where to answer `/metrics`; unset, and nothing is counted. */
    metricsPort: env.METRICS_PORT,
    /** Processes that share the port. */
    workers: env.WORKERS,
    /** Complete requests that one process handles at once. */
    maxRequests: env.MAX_REQUESTS,
    /** Requests with a body that is still arriving, in one process; a quarter of them for each address. */
    maxIncomplete: env.MAX_INCOMPLETE,
    /** How long a request may wait for its answer, in milliseconds. */
    answerTimeout: env.ANSWER_TIMEOUT * 1000,
    /** How long the audit trail is kept, in days. */
    auditRetention: env.AUDIT_RETENTION,
    /** How long a process that is told to stop still takes requests, in milliseconds. */
    stopDelay: env.STOP_DELAY * 1000,
  }
}

/** Made once for development, so that sessions outlive a restart. Private, even where the file existed before. */
function keptSecret(folder: string) {
  const file = join(folder, 'auth-secret')
  makeFolderPrivate(folder)
  try {
    writeFileSync(file, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  makePrivate(file, 0o600)
  const secret = readFileSync(file, 'utf8')
  // Empty after a full disk or a power failure. In place of an empty secret, better-auth uses one that is public.
  if (secret.length < MIN_SECRET)
    throw new Error(
      `${file} has fewer than ${MIN_SECRET} characters. Delete the file, which signs everyone out, or set AUTH_SECRET.`,
    )
  return secret
}
