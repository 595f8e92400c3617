import { hostname } from 'node:os'
import { join } from 'node:path'

import proxyAddr from 'proxy-addr'
import type { RateLimit } from 'tallystick-contract'
import { z } from 'zod'

import { parseDatabaseUrl } from '../db/connection/database-url.ts'
import { toErrorMessage } from '../db/errors.ts'
import { loadOrCreateSecret, MIN_SECRET } from './auth-secret.ts'
import { APP_SCHEMES, isAppScheme, isConfiguredClient } from './oauth-clients.ts'
import { isLoopback } from './loopback.ts'
import { normalizeAddress } from '../values/mail-address.ts'

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
  .refine(
    (url) => url.pathname === '/' && !url.search && !url.hash,
    'Must be an origin without a path, such as https://example.com',
  )
  .transform((url) => url.origin)

const serverUrl = z.string().superRefine((url, context) => {
  try {
    parseDatabaseUrl(url)
  } catch (error) {
    context.addIssue({ code: 'custom', message: toErrorMessage(error) })
  }
})

const mailAddress = z
  .string()
  .regex(/^[^\s@]+@[^\s@]+$/, 'Must be a comma-separated list of e-mail addresses')

const isProxyList = (addresses: string[]) => {
  try {
    return Boolean(proxyAddr.compile(addresses))
  } catch {
    return false
  }
}

type RateLimitsByName = ReadonlyMap<string, RateLimit>

const parseLimit = (entry: string): [string, number] => {
  const [name = '', points = ''] = entry.split('=')
  return [name, Number(points)]
}
const isLimitList = (entries: string[], limits: RateLimitsByName) =>
  entries
    .map(parseLimit)
    .every(([name, points]) => limits.has(name) && Number.isInteger(points) && points > 0)

const redirectSchemes = ({ REDIRECT_SCHEMES }: { REDIRECT_SCHEMES: string[] }) => [
  ...APP_SCHEMES,
  ...REDIRECT_SCHEMES,
]

const Variables = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  BASE_URL: origin.optional(),
  DATABASE_URL: z.literal('memory:').or(serverUrl).optional(),
  DATABASE_DIRECT_URL: serverUrl.optional(),
  DATA_DIR: z.string().default('.data'),
  AUTH_SECRET: z.string().min(MIN_SECRET, `Must have at least ${MIN_SECRET} characters`).optional(),
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  MAIL_FROM: z
    .string()
    .regex(
      /^([^<>\r\n]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/,
      'Must be an e-mail address, such as Example <mail@example.com>',
    )
    .optional(),
  ADMIN_EMAILS: list.pipe(z.array(mailAddress.toLowerCase().transform(normalizeAddress))),
  TRUSTED_ORIGINS: list.pipe(z.array(origin)),
  TRUSTED_PROXIES: list.refine(
    isProxyList,
    'Must be a comma-separated list of IP addresses or ranges, such as 10.0.0.0/8',
  ),
  OAUTH_CLIENTS: list,
  REDIRECT_SCHEMES: list.refine(
    (schemes) => schemes.every(isAppScheme),
    'Must be a comma-separated list of private schemes, such as example-app',
  ),
  SERVICE: z.string().default(`${hostname()}:${process.pid}`),
  RELEASE: z.string().default('local'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  LIMITS: list,
  RATE_LIMITS: z.enum(['on', 'off']).default('on'),
  CONSOLE: z.enum(['on', 'off']).default('on'),
  METRICS_PORT: z.coerce.number().int().min(1).max(65_535).optional(),
  WORKERS: z.coerce.number().int().min(1).max(256).default(1),
  MAX_REQUESTS: z.coerce.number().int().min(1).default(1000),
  MAX_STREAMS: z.coerce.number().int().min(0).default(10_000),
  MAX_PERSON_STREAMS: z.coerce.number().int().min(1).default(20),
  ANSWER_TIMEOUT: z.coerce.number().positive().max(3600).default(15),
  AUDIT_RETENTION: z.coerce.number().int().min(30).max(3650).default(365),
})

type Variables = z.infer<typeof Variables>

interface Rule {
  /** The setting that an error names. */
  name: keyof Variables
  message: string
  isKept: (env: Variables) => boolean
  /** The other settings that `isKept` reads. */
  reads: (keyof Variables)[]
}

const usesServer = ({ DATABASE_URL }: Variables) => DATABASE_URL?.startsWith('postgres') === true

/** The rules that concern several settings. */
const rules: Rule[] = [
  {
    name: 'OAUTH_CLIENTS',
    message: 'Must be a comma-separated list of id=redirect-uri',
    isKept: (env) => env.OAUTH_CLIENTS.every((entry) => isConfiguredClient(entry, redirectSchemes(env))),
    reads: ['REDIRECT_SCHEMES'],
  },
  {
    name: 'WORKERS',
    message: 'More than one worker requires a DATABASE_URL: only one process can use the embedded database',
    isKept: (env) => env.WORKERS === 1 || usesServer(env),
    reads: ['DATABASE_URL'],
  },
  {
    name: 'DATABASE_DIRECT_URL',
    message: 'Requires a DATABASE_URL, the address of the connection pooler',
    isKept: (env) => env.DATABASE_DIRECT_URL === undefined || usesServer(env),
    reads: ['DATABASE_URL'],
  },
  ...(['BASE_URL', 'AUTH_SECRET', 'SMTP_URL', 'MAIL_FROM'] as const).map((name): Rule => ({
    name,
    message: 'Must be set in production',
    isKept: (env) => env.NODE_ENV !== 'production' || env[name] !== undefined,
    reads: ['NODE_ENV'],
  })),
]

const limitRule = (limits: RateLimitsByName): Rule => ({
  name: 'LIMITS',
  message: `Must be a comma-separated list of name=number. Names: ${[...limits.keys()].join(', ')}`,
  isKept: ({ LIMITS }) => isLimitList(LIMITS, limits),
  reads: [],
})

/** Also checks a rule if settings that the rule does not read are invalid, so that one start reports all mistakes. */
const createEnvironment = (limits: RateLimitsByName) =>
  [limitRule(limits), ...rules].reduce(
    (schema, { name, message, isKept, reads }) =>
      schema.refine(isKept, {
        path: [name],
        error: message,
        when: ({ issues }) => !issues.some(({ path }) => [name, ...reads].some((read) => path?.[0] === read)),
      }),
    Variables,
  )

/** What the settings depend on: the names of the rate limits in LIMITS, and the default sender. */
interface AppForSettings {
  id: string
  name: string
  rateLimits: RateLimitsByName
}

export type Settings = ReturnType<typeof readSettings>

/** Parses environment variables. An empty variable counts as unset. Throws one error that lists all invalid settings. */
export function readSettings(environment: Record<string, string | undefined>, app: AppForSettings) {
  const nonEmpty = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const { success, data: env, error } = createEnvironment(app.rateLimits).safeParse(nonEmpty)
  if (!success) {
    const problems = error.issues.map(({ path, message }) => `  ${path.join(' ')}: ${message}`)
    throw new Error(['Invalid settings:', ...problems].join('\n'))
  }
  const baseUrl = env.BASE_URL ?? new URL(`http://localhost:${env.PORT}`).origin
  const embeddedDatabase = join(env.DATA_DIR, 'db')
  return {
    production: env.NODE_ENV === 'production',
    host: env.HOST,
    port: env.PORT,
    /** The public origin of the service. */
    baseUrl,
    /** Whether only this machine can reach the service. */
    isLocal: isLoopback(env.HOST) && isLoopback(new URL(baseUrl).hostname),
    databaseUrl: env.DATABASE_URL ?? embeddedDatabase,
    /** The folder of the embedded database, which the service uses if DATABASE_URL is not set. */
    embeddedDatabase,
    /** URL of the PostgreSQL server itself. Set if `databaseUrl` is the URL of a connection pooler. */
    directUrl: env.DATABASE_DIRECT_URL,
    authSecret: env.AUTH_SECRET ?? loadOrCreateSecret(env.DATA_DIR),
    smtpUrl: env.SMTP_URL,
    mailFrom: env.MAIL_FROM ?? `${quoteName(app.name)} <${app.id}@localhost>`,
    outbox: join(env.DATA_DIR, 'outbox'),
    adminEmails: env.ADMIN_EMAILS,
    trustedOrigins: env.TRUSTED_ORIGINS,
    trustedProxies: env.TRUSTED_PROXIES,
    oauthClients: env.OAUTH_CLIENTS,
    /** Private schemes without a dot that redirect URIs of apps may have. */
    redirectSchemes: redirectSchemes(env),
    service: env.SERVICE,
    release: env.RELEASE,
    logLevel: env.LOG_LEVEL,
    rateLimits: env.RATE_LIMITS === 'on',
    /** Points that override the points of rate limits. The key is the name of the rate limit. */
    limitPoints: Object.fromEntries(env.LIMITS.map(parseLimit)),
    /** Whether the service may have the console for developers (engine/console/). */
    console: env.CONSOLE === 'on',
    /** Port of `/metrics`, on the address `host`. If unset, no metrics are collected. */
    metricsPort: env.METRICS_PORT,
    /** Number of processes that serve requests on `port`. */
    workers: env.WORKERS,
    /** Maximum number of complete requests that one process handles concurrently. */
    maxRequests: env.MAX_REQUESTS,
    /** Maximum number of open event streams in one process. */
    maxStreams: env.MAX_STREAMS,
    /** Maximum number of open event streams of one person in one process. */
    maxPersonStreams: env.MAX_PERSON_STREAMS,
    /** Time limit for answering a request, in milliseconds. */
    answerTimeout: env.ANSWER_TIMEOUT * 1000,
    /** Retention period of audit entries, in days. */
    auditRetention: env.AUDIT_RETENTION,
  }
}

/** Quotes the name of a sender if the name has characters with a meaning in an address (RFC 5322). */
const quoteName = (name: string) =>
  /["(),.:;<>@[\\\]]/.test(name) ? `"${name.replace(/["\\]/g, '\\$&')}"` : name
