import { describe, expect, test } from 'vitest'

import { readSettings } from './fixtures/settings.ts'

const secret = 'a'.repeat(32)

describe('readSettings', () => {
  test('has a default for every setting except in production', () => {
    expect(readSettings({ AUTH_SECRET: secret })).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      baseUrl: 'http://localhost:3000',
      databaseUrl: '.data/db',
      smtpUrl: undefined,
      adminEmails: [],
      release: 'local',
      logLevel: 'info',
      rateLimits: true,
      production: false,
    })
  })

  test('treats empty values as unset', () => {
    expect(readSettings({ AUTH_SECRET: secret, PORT: '', DATABASE_URL: '', ADMIN_EMAILS: '' })).toEqual(
      readSettings({ AUTH_SECRET: secret }),
    )
  })

  test('parses lists, and converts addresses to lower case', () => {
    const settings = readSettings({
      AUTH_SECRET: secret,
      ADMIN_EMAILS: 'Ada@Example.com, bob@Bücher.example',
      TRUSTED_ORIGINS: 'https://app.example.com/,http://localhost:5173',
    })

    expect(settings.adminEmails).toEqual(['ada@example.com', 'bob@xn--bcher-kva.example'])
    expect(settings.trustedOrigins).toEqual(['https://app.example.com', 'http://localhost:5173'])
  })

  test('accepts addresses of several servers, and of a server behind a pooler', () => {
    const databaseUrl = 'postgres://a:1,b:2/x?target_session_attrs=read-write'
    const directUrl = 'postgresql://c/x'
    const settings = { AUTH_SECRET: secret, DATABASE_URL: databaseUrl, DATABASE_DIRECT_URL: directUrl }

    expect(readSettings(settings)).toMatchObject({ databaseUrl, directUrl })
  })

  test('has no default port in the public origin', () => {
    expect(readSettings({ AUTH_SECRET: secret, PORT: '80' }).baseUrl).toBe('http://localhost')
    expect(readSettings({ AUTH_SECRET: secret, PORT: '8080' }).baseUrl).toBe('http://localhost:8080')
  })

  test('names all mistakes together, also mistakes that concern several settings', () => {
    const read = () =>
      readSettings({
        NODE_ENV: 'production',
        PORT: 'x',
        LOG_LEVEL: 'loud',
        WORKERS: '2',
        OAUTH_CLIENTS: 'no-uri',
        MAIL_FROM: 'nobody',
      })

    for (const name of ['PORT', 'LOG_LEVEL', 'WORKERS', 'OAUTH_CLIENTS', 'MAIL_FROM', 'BASE_URL', 'SMTP_URL'])
      expect(read).toThrow(`  ${name}: `)
  })

  test.each(['nobody', 'Ada <ada>', 'ada@example.com, bob@example.com', 'Ada <ada@example.com'])(
    'rejects the sender %s',
    (MAIL_FROM) => {
      expect(() => readSettings({ AUTH_SECRET: secret, MAIL_FROM })).toThrow(
        'MAIL_FROM: Must be an e-mail address',
      )
    },
  )

  test.each(['ada@example.com', 'Ada <ada@example.com>', '"Ada, Tally" <ada@example.com>'])(
    'accepts the sender %s',
    (mailFrom) => {
      expect(readSettings({ AUTH_SECRET: secret, MAIL_FROM: mailFrom })).toMatchObject({ mailFrom })
    },
  )

  test('names every setting that production lacks', () => {
    const read = () => readSettings({ NODE_ENV: 'production' })

    for (const name of ['BASE_URL', 'AUTH_SECRET', 'SMTP_URL', 'MAIL_FROM'])
      expect(read).toThrow(`  ${name}: `)
  })

  test.each([
    ['PORT', '70000'],
    ['BASE_URL', 'example.com'],
    ['DATABASE_URL', 'mysql://x'],
    ['DATABASE_DIRECT_URL', 'mysql://x'],
    ['DATABASE_DIRECT_URL', 'postgres://x'],
    ['WORKERS', '0'],
    ['WORKERS', '2'],
    ['AUTH_SECRET', 'short'],
    ['SMTP_URL', 'http://x'],
    ['ADMIN_EMAILS', 'nobody'],
    ['TRUSTED_ORIGINS', 'app.example.com'],
    ['TRUSTED_PROXIES', 'somewhere'],
    ['LOG_LEVEL', 'loud'],
    ['RATE_LIMITS', 'maybe'],
  ])('rejects %s=%s by name', (name, value) => {
    expect(() => readSettings({ AUTH_SECRET: secret, [name]: value })).toThrow(`  ${name}`)
  })
})
