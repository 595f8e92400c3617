import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

import { APP_SCHEMES } from '../engine/settings/oauth-clients.ts'
import { app } from '../src/app.ts'
import { readSettings } from './fixtures/settings.ts'

const document = readFileSync('docs/settings.md', 'utf8')

/** Returns the table rows under a heading of level 2, if the first cell of the row is a name in backquotes. */
function rowsUnder(heading: string, text = document) {
  const [, section = ''] = text.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return own
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .flatMap(([, first = '', ...cells]) => {
      const [, name] = /^`(\w+)`$/.exec(first) ?? []
      return name === undefined ? [] : [{ name, cells }]
    })
}

const settingRows = rowsUnder('Settings')
const namesOf = (rows: { name: string }[]) => rows.map(({ name }) => name).sort()

/** Names of the settings that engine/settings/settings.ts reads: the keys of its schema. */
const settingsInCode = Array.from(
  readFileSync('engine/settings/settings.ts', 'utf8').matchAll(/^ +([A-Z][A-Z_]+):/gm),
  ([, name = '']) => name,
).sort()

const AUTH_SECRET = 'a'.repeat(32)
const settings = readSettings({ AUTH_SECRET })

/** The defaults when only AUTH_SECRET is set, in the units of the table in docs/settings.md. */
const defaults: Record<string, string | number | boolean | string[] | undefined> = {
  NODE_ENV: settings.production ? 'production' : 'development',
  HOST: settings.host,
  PORT: settings.port,
  BASE_URL: settings.baseUrl,
  DATABASE_URL: settings.databaseUrl === join('.data', 'db') ? undefined : settings.databaseUrl,
  DATABASE_DIRECT_URL: settings.directUrl,
  DATA_DIR: settings.outbox.replace(/.outbox$/, ''),
  SMTP_URL: settings.smtpUrl,
  MAIL_FROM: settings.mailFrom,
  ADMIN_EMAILS: settings.adminEmails,
  TRUSTED_ORIGINS: settings.trustedOrigins,
  TRUSTED_PROXIES: settings.trustedProxies,
  OAUTH_CLIENTS: settings.oauthClients,
  REDIRECT_SCHEMES: settings.redirectSchemes.slice(APP_SCHEMES.length),
  SERVICE: settings.service,
  RELEASE: settings.release,
  LOG_LEVEL: settings.logLevel,
  LIMITS: Object.keys(settings.limitPoints),
  RATE_LIMITS: settings.rateLimits,
  CONSOLE: settings.console,
  METRICS_PORT: settings.metricsPort,
  WORKERS: settings.workers,
  MAX_REQUESTS: settings.maxRequests,
  MAX_STREAMS: settings.maxStreams,
  MAX_PERSON_STREAMS: settings.maxPersonStreams,
  ANSWER_TIMEOUT: settings.answerTimeout / 1000,
  AUDIT_RETENTION: settings.auditRetention,
}

/** Formats a default as the table in docs/settings.md does. */
function written(value: (typeof defaults)[string]) {
  if (value === undefined) return 'unset'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `\`${value.join()}\``
  if (typeof value === 'boolean') return value ? '`on`' : '`off`'
  return `\`${value}\``
}

/** Values for the placeholders in the defaults of the table, such as `PORT`. These values differ between processes. */
const placeholders: Record<string, string> = {
  PORT: String(settings.port),
  HOSTNAME: hostname(),
  PID: String(process.pid),
}
const filled = (cell: string) => cell.replace(/[A-Z]{3,}/g, (word) => placeholders[word] ?? word)

/**
 * Valid settings that include every setting which other settings require. A test adds one setting: if the result is
 * invalid, the reason is the value of the added setting.
 */
const complete = {
  AUTH_SECRET,
  BASE_URL: 'https://example.com',
  DATABASE_URL: 'postgres://localhost/x',
  SMTP_URL: 'smtp://localhost',
  MAIL_FROM: 'no-reply@example.com',
}
const accepts = (name: string, value: number | string) => {
  try {
    return Boolean(readSettings({ ...complete, [name]: String(value) }))
  } catch {
    return false
  }
}

/**
 * Returns the number that a pattern finds in a cell, as a list with one element. If the pattern finds no number, the
 * list is empty.
 */
function numberIn(cell: string, pattern: RegExp) {
  const [, digits] = pattern.exec(cell) ?? []
  return digits === undefined ? [] : [Number(digits)]
}

/** Parses the bounds in a cell: `allowed` lists the bounds, `excluded` the adjacent numbers outside the bounds. */
function boundsOf(cell: string) {
  const least = [...numberIn(cell, /(\d+) to/), ...numberIn(cell, /at least (\d+)/)]
  const most = [...numberIn(cell, /to (\d+)/), ...numberIn(cell, /at most (\d+)/)]
  return {
    allowed: [...least, ...most],
    excluded: [
      ...least.map((bound) => bound - 1),
      ...most.map((bound) => bound + 1),
      ...numberIn(cell, /above (\d+)/),
    ],
  }
}

describe('docs/settings.md', () => {
  test('lists each setting that engine/settings/settings.ts reads, once, and no other', () => {
    expect(settingsInCode.length).toBeGreaterThan(20)
    expect(namesOf(settingRows)).toEqual(settingsInCode)
  })

  test('has a default in this test for every setting', () => {
    expect(Object.keys(defaults).concat('AUTH_SECRET').sort()).toEqual(settingsInCode)
  })

  test.each(settingRows.filter(({ name }) => name !== 'AUTH_SECRET'))(
    'gives the default of $name',
    ({ name, cells: [cell = ''] }) => {
      expect(filled(cell)).toBe(written(defaults[name]))
    },
  )

  test('says where the default of AUTH_SECRET is stored', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tallystick-settings-'))
    onTestFinished(() => {
      rmSync(folder, { recursive: true })
    })

    const { authSecret } = readSettings({ DATA_DIR: folder })

    expect(settingRows.find(({ name }) => name === 'AUTH_SECRET')?.cells[0]).toBe(
      'generated, kept in `DATA_DIR/auth-secret`',
    )
    expect(readFileSync(join(folder, 'auth-secret'), 'utf8')).toBe(authSecret)
  })

  test('gives the bounds of numbers', () => {
    const bounded = settingRows
      .map(({ name, cells: [, values = ''] }) => ({ name, ...boundsOf(values) }))
      .filter(({ excluded }) => excluded.length > 0)

    expect(bounded.length).toBeGreaterThan(5)
    for (const { name, allowed, excluded } of bounded) {
      for (const value of allowed) expect([name, value, accepts(name, value)]).toEqual([name, value, true])
      for (const value of excluded) expect([name, value, accepts(name, value)]).toEqual([name, value, false])
    }
  })

  test('gives the choices of settings with fixed values', () => {
    const chosen = settingRows
      .filter(({ cells: [, values = ''] }) => /^`\w+`(, `\w+`)+$/.test(values))
      .map(({ name, cells: [, values = ''] }) => ({ name, choices: values.replaceAll('`', '').split(', ') }))

    expect(chosen.length).toBeGreaterThan(2)
    for (const { name, choices } of chosen) {
      expect([name, choices.filter((choice) => !accepts(name, choice))]).toEqual([name, []])
      expect([name, accepts(name, 'another')]).toEqual([name, false])
    }
  })

  test('lists each rate limit with its default', () => {
    const listed = rowsUnder('Rate limits').map(({ name, cells: [points, seconds] }) => [
      name,
      points,
      seconds,
    ])

    expect(listed).toEqual(
      [...app.rateLimits].map(([name, { points, duration }]) => [name, String(points), String(duration)]),
    )
  })

  test('lists the environment variables that the command line reads, and no other', () => {
    const sources = readdirSync('engine', { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !/^(test|dev\/testing)\//.test(file),
    )
    const read = sources.flatMap((file) =>
      Array.from(
        readFileSync(join('engine', file), 'utf8').matchAll(/(?<!delete )process\.env\.(\w+)/g),
        ([, name = '']) => name,
      ),
    )

    expect(namesOf(rowsUnder('Environment of the command line'))).toEqual([...new Set(read)].sort())
  })
})
