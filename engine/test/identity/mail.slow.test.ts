import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pino } from 'pino'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerEnvelope, type SMTPServerOptions } from 'smtp-server'
import { describe, expect, onTestFinished, test } from 'vitest'

import { createApp } from '../../http/server/app.ts'
import { createAuth } from '../../identity/better-auth.ts'
import { createCookieIdentity } from '../../identity/cookie-identity.ts'
import { createMailer, signInEmail } from '../../identity/mail.ts'
import { languages } from '../../contract/languages.ts'
import { negotiateLanguage } from '../../texts/engine-texts.ts'
import { readSettings } from '../fixtures/settings.ts'
import { createFetch } from '../fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'
import { listenForMail } from '../fixtures/mail-server.ts'

const service = await startService()
const { app } = service.services
const english = negotiateLanguage('en')
const secret = { AUTH_SECRET: 'a secret of at least thirty-two characters' }

interface Post {
  url: string
  received: { letter: Email; envelope: SMTPServerEnvelope }[]
}

/** Starts a mail server for one test. */
async function startMailServer(options: SMTPServerOptions = {}): Promise<Post> {
  const received: Post['received'] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData: (stream, { envelope }, done) => {
      void buffer(stream)
        .then((bytes) => PostalMime.parse(bytes))
        .then((letter) => {
          received.push({ letter, envelope })
          done()
        })
    },
    ...options,
  })
  return { url: `smtp://${await listenForMail(server)}`, received }
}

async function temporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-mail-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

function createReadableLog() {
  const lines: string[] = []
  return { lines, log: pino({ level: 'trace' }, { write: (line: string) => lines.push(line) }) }
}

/** Starts an HTTP server of the service, with a mailer for the settings in `environment`. */
async function startWith(environment: Record<string, string>) {
  const { lines, log } = createReadableLog()
  const { db } = service.services
  const settings = readSettings({ ...secret, RATE_LIMITS: 'off', ...environment })
  const auth = createAuth(settings, db, createMailer(settings, log), log, app)
  const identity = { ...service.services.identity, ...(await createCookieIdentity(auth)) }
  const services = { ...service.services, settings, identity, log }
  const server = createApp(services).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const call = createFetch({ origin })
  return {
    lines,
    ask: (email: string, headers = {}) =>
      call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' }, headers),
    signIn: (email: string, otp: string) => call('POST', '/api/auth/sign-in/email-otp', { email, otp }),
  }
}

const codeOf = ({ subject }: Email) => subject?.slice(0, 6) ?? ''

describe('the sign-in e-mail', () => {
  test('is delivered by SMTP, and its code signs the person in', async () => {
    const { url, received } = await startMailServer()
    const { ask, signIn } = await startWith({
      SMTP_URL: url,
      MAIL_FROM: 'Tällystick <no-reply@example.com>',
    })
    const email = newEmail()

    const asked = await ask(email)
    const [post] = received
    const code = post ? codeOf(post.letter) : ''
    const signedIn = await signIn(email, code)

    expect(asked).toMatchObject({ status: 200, body: { success: true } })
    expect(signedIn).toMatchObject({ status: 200, body: { user: { email, emailVerified: true } } })
    expect(received).toHaveLength(1)
    expect(post?.envelope).toMatchObject({
      mailFrom: { address: 'no-reply@example.com' },
      rcptTo: [{ address: email }],
    })
    expect(post?.letter).toMatchObject({
      from: { name: 'Tällystick', address: 'no-reply@example.com' },
      to: [{ address: email }],
      subject: `${code} is your sign-in code`,
      messageId: expect.stringContaining('@'),
      attachments: [],
    })
    expect(code).toMatch(/^\d{6}$/)
  })

  test('is marked as written by a program, beside its language', async () => {
    const { url, received } = await startMailServer()
    const { ask } = await startWith({ SMTP_URL: url })

    await ask(newEmail(), { 'accept-language': 'fr' })

    const headers = received[0]?.letter.headers.map(({ key, value }) => [key, value])
    expect(headers).toContainEqual(['auto-submitted', 'auto-generated'])
    expect(headers).toContainEqual(['content-language', 'fr'])
  })

  test('is sent to the lower-case address only', async () => {
    const { url, received } = await startMailServer()
    const { ask } = await startWith({ SMTP_URL: url })
    const email = newEmail()

    await ask(email.toUpperCase())

    expect(received.map(({ envelope }) => envelope.rcptTo.map(({ address }) => address))).toEqual([[email]])
  })

  test.each([
    'a@example.com, b@example.com',
    'a@example.com\r\nBcc: b@example.com',
    'A <a@example.com>',
    'a@example.com x',
    'a@localhost',
    '',
  ])('is not sent to %j', async (email) => {
    const { url, received } = await startMailServer()
    const { ask } = await startWith({ SMTP_URL: url })

    expect(await ask(email)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } })

    expect(received).toEqual([])
  })

  test('has a new code each time and for each person', async () => {
    const { url, received } = await startMailServer()
    const { ask, signIn } = await startWith({ SMTP_URL: url })
    const [ada, bob] = [newEmail(), newEmail()]

    await Promise.all([ada, bob].map((email) => ask(email)))
    const codes = new Map(
      received.map(({ letter, envelope }) => [envelope.rcptTo[0]?.address, codeOf(letter)]),
    )

    expect([...codes.keys()].sort()).toEqual([ada, bob].sort())
    expect(await signIn(ada, codes.get(ada) ?? '')).toMatchObject({ body: { user: { email: ada } } })
    expect(await signIn(bob, codes.get(bob) ?? '')).toMatchObject({ body: { user: { email: bob } } })
  })

  test('escapes its values in HTML', () => {
    const { html, text } = signInEmail('ada@example.com', '<b>&"', 'Tally<i>', english)

    expect(html).toContain('&lt;b&gt;&amp;&quot;')
    expect(html).not.toContain('<b>')
    expect(text).toContain('<b>&"')
    expect(html).toContain('Tally&lt;i&gt;')
    expect(text).toContain('Tally<i>')
  })

  test.each(languages)('is in the language of the request: %s', async (language) => {
    const { url, received } = await startMailServer()
    const { ask, signIn } = await startWith({ SMTP_URL: url })
    const { direction, translate } = negotiateLanguage(language)
    const email = newEmail()

    await ask(email, { 'accept-language': `${language}, en;q=0.5` })
    const letter = received[0]?.letter

    const code = letter ? codeOf(letter) : ''
    expect(letter?.subject).toBe(translate('letterSubject', { code }))
    expect(letter?.headers).toContainEqual(
      expect.objectContaining({ key: 'content-language', value: language }),
    )
    expect(letter?.html).toContain(`<html lang="${language}" dir="${direction}">`)
    for (const message of ['letterCode', 'letterUse', 'letterIgnore']) {
      const text = translate(message, { name: app.name })
      expect(letter?.html).toContain(text)
      expect(letter?.text).toContain(text)
    }
    expect((await signIn(email, code)).status).toBe(200)
  })

  test('contains no text of the request except the code', async () => {
    const { url, received } = await startMailServer()
    const { ask } = await startWith({ SMTP_URL: url })
    const hostile = 'x-evil, <b>evil</b>;q=1, fr'

    await ask(newEmail(), { 'accept-language': hostile, 'user-agent': 'evil' })

    const { subject, text, html } = received[0]?.letter ?? {}
    expect(subject).toContain('votre code')
    expect(JSON.stringify({ subject, text, html })).not.toContain('evil')
  })

  test('is not in the log', async () => {
    const { url, received } = await startMailServer()
    const { ask, lines } = await startWith({ SMTP_URL: url })

    await ask(newEmail())

    expect(received).toHaveLength(1)
    for (const { letter } of received)
      expect(lines.join('')).not.toMatch(new RegExp(`\\b${codeOf(letter)}\\b`))
  })
})

/** Starts a mail server that refuses the sender of the first e-mails with a code. Counts the attempts. */
async function startRefusing(responseCode: number, refusals: number) {
  let attempts = 0
  const { url, received } = await startMailServer({
    onMailFrom: (_, __, done) => {
      done(attempts++ < refusals ? Object.assign(new Error('Later'), { responseCode }) : undefined)
    },
  })
  return { url, received, attempts: () => attempts }
}

describe('a refusal of the mail server', () => {
  test.each([421, 451])('for now (%s) is followed by another attempt, within the request', async (code) => {
    const { url, received, attempts } = await startRefusing(code, 2)
    const { ask, signIn, lines } = await startWith({ SMTP_URL: url })
    const email = newEmail()

    expect(await ask(email)).toMatchObject({ status: 200, body: { success: true } })

    expect(attempts()).toBe(3)
    expect(received).toHaveLength(1)
    expect(lines.join('')).not.toContain('could not be delivered')
    for (const { letter } of received) expect((await signIn(email, codeOf(letter))).status).toBe(200)
  })

  test('for now ends the attempts when the request has no time left', async () => {
    const { url, attempts } = await startRefusing(451, 9)
    const { ask, lines } = await startWith({ SMTP_URL: url, ANSWER_TIMEOUT: '3' })

    expect(await ask(newEmail())).toMatchObject({ status: 200 })

    expect(attempts()).toBe(2)
    expect(lines.join('')).toContain('could not be delivered')
  })

  test('for good (550) is followed by no other attempt', async () => {
    const { url, attempts } = await startRefusing(550, 9)
    const { ask } = await startWith({ SMTP_URL: url })

    await ask(newEmail())

    expect(attempts()).toBe(1)
  })
})

// The address 0.0.0.0 also reaches this machine, but is no loopback address.
describe('the password of a mail server on another machine', () => {
  /** Starts a mail server without TLS. Returns the password that the server received. */
  async function startUnencrypted() {
    let password: string | null | undefined
    const { url, received } = await startMailServer({
      authOptional: false,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: (auth, _, done) => {
        password = auth.password
        done(null, { user: auth.username })
      },
    })
    return { url: url.replace('//', '//robot:swordfish@'), received, password: () => password }
  }

  test('is not sent without TLS', async () => {
    const { url, received, password } = await startUnencrypted()
    const { ask, lines } = await startWith({ SMTP_URL: url.replace('127.0.0.1', '0.0.0.0') })

    await ask(newEmail())

    expect(password()).toBeUndefined()
    expect(received).toEqual([])
    expect(lines.join('')).toMatch(/"code":"ETLS".*"command":"STARTTLS"/)
  })

  test.each([
    [
      'with the parameter requireTLS=false',
      (url: string) => `${url.replace('127.0.0.1', '0.0.0.0')}?requireTLS=false`,
    ],
    ['to this machine', (url: string) => url],
  ])('is sent without TLS %s', async (_, addressOf) => {
    const { url, received, password } = await startUnencrypted()
    const { ask } = await startWith({ SMTP_URL: addressOf(url) })

    await ask(newEmail())

    expect(password()).toBe('swordfish')
    expect(received).toHaveLength(1)
  })
})

describe('the outbox', () => {
  test('stores each e-mail as a file, and the code is in the log', async () => {
    const folder = await temporaryFolder()
    const { ask, signIn, lines } = await startWith({ DATA_DIR: folder })
    const email = newEmail()

    await ask(email)
    const [file = ''] = await readdir(join(folder, 'outbox'))
    const letter = await PostalMime.parse(await readFile(join(folder, 'outbox', file)))

    const code = codeOf(letter)
    expect(file).toMatch(/\.eml$/)
    expect(letter).toMatchObject({
      from: { name: app.name, address: `${app.id}@localhost` },
      to: [{ address: email }],
      subject: `${code} is your sign-in code`,
      text: expect.stringContaining(code),
      html: expect.stringContaining(code),
    })
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({
        level: 30,
        to: email,
        file: join(folder, 'outbox', file),
        msg: `e-mail: ${code} is your sign-in code`,
      }),
    )
    expect((await signIn(email, code)).status).toBe(200)
  })

  test('keeps e-mails in the order in which they were written', async () => {
    const folder = await temporaryFolder()
    const mailer = createMailer(readSettings({ ...secret, DATA_DIR: folder }), createReadableLog().log)

    for (const code of ['000001', '000002', '000003'])
      await mailer(signInEmail('ada@example.com', code, app.name, english))
    const files = (await readdir(join(folder, 'outbox'))).sort()
    const letters = await Promise.all(
      files.map(async (file) => PostalMime.parse(await readFile(join(folder, 'outbox', file)))),
    )

    expect(letters.map(codeOf)).toEqual(['000001', '000002', '000003'])
  })

  test('is not used with SMTP', async () => {
    const folder = await temporaryFolder()
    const { url, received } = await startMailServer()
    const { ask } = await startWith({ DATA_DIR: folder, SMTP_URL: url })

    await ask(newEmail())

    expect(received).toHaveLength(1)
    expect(await readdir(folder)).toEqual([])
  })

  test('that is not writable makes the delivery fail', async () => {
    const settings = readSettings({ ...secret, DATA_DIR: '/dev/null' })

    await expect(
      createMailer(settings, createReadableLog().log)(signInEmail('ada@example.com', '1', app.name, english)),
    ).rejects.toThrow()
  })
})

describe('a failed delivery', () => {
  const refuse = (): Error => Object.assign(new Error('Not today'), { responseCode: 550 })
  const failures: [string, SMTPServerOptions][] = [
    [
      'a refused connection',
      {
        onConnect: (_, done) => {
          done(refuse())
        },
      },
    ],
    [
      'a refused sender',
      {
        onMailFrom: (_, __, done) => {
          done(refuse())
        },
      },
    ],
    [
      'a refused recipient',
      {
        onRcptTo: (_, __, done) => {
          done(refuse())
        },
      },
    ],
    [
      'a refused message',
      {
        onData: (stream, _, done) =>
          void buffer(stream).then((bytes) => {
            done(echo(bytes))
          }),
      },
    ],
  ]
  // The mail server repeats the subject in its error message. The subject contains the sign-in code.
  const echo = (bytes: Buffer) =>
    Object.assign(new Error(`No: ${/^Subject: (.*)$/m.exec(bytes.toString())?.[1]}`), { responseCode: 550 })

  test.each(failures)('%s rejects the promise of the mailer', async (_, options) => {
    const { url } = await startMailServer(options)
    const mailer = createMailer(readSettings({ ...secret, SMTP_URL: url }), createReadableLog().log)

    await expect(mailer(signInEmail('ada@example.com', '123456', app.name, english))).rejects.toThrow()
  })

  test.each(failures)('%s is logged, and the caller gets the response of a success', async (_, options) => {
    const { url } = await startMailServer(options)
    const { ask, lines } = await startWith({ SMTP_URL: url })

    expect(await ask(newEmail())).toMatchObject({ status: 200, body: { success: true } })

    const failed = lines.filter((line) => line.includes('a sign-in e-mail could not be delivered'))
    expect(failed).toHaveLength(1)
    expect(JSON.parse(failed[0] ?? '')).toMatchObject({ level: 50, code: expect.any(String) })
  })

  test('is logged without the code, even if the server repeats the e-mail', async () => {
    const codes: string[] = []
    const { url } = await startMailServer({
      onData: (stream, _, done) =>
        void buffer(stream).then((bytes) => {
          codes.push(/^Subject: (\d{6})/m.exec(bytes.toString())?.[1] ?? '')
          done(echo(bytes))
        }),
    })
    const { ask, lines } = await startWith({ SMTP_URL: url })

    await ask(newEmail())

    expect(codes).toEqual([expect.stringMatching(/^\d{6}$/)])
    expect(lines.join('')).not.toContain(codes[0])
  })

  test('without a mail server is logged, and the caller gets the response of a success', async () => {
    const { ask, lines } = await startWith({ SMTP_URL: 'smtp://127.0.0.1:1' })

    expect(await ask(newEmail())).toMatchObject({ status: 200, body: { success: true } })

    const failed = lines.filter((line) => line.includes('could not be delivered'))
    expect(failed.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ mailServer: '127.0.0.1:1', code: 'ESOCKET' }),
    ])
  })

  test('is logged without the password of the mail server', async () => {
    const { url } = await startMailServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: (_, __, done) => {
        done(new Error('Who are you?'))
      },
    })
    const { ask, lines } = await startWith({ SMTP_URL: url.replace('//', '//robot:swordfish@') })

    expect(await ask(newEmail())).toMatchObject({ status: 200, body: { success: true } })

    const failed = lines.filter((line) => line.includes('could not be delivered'))
    expect(failed).toHaveLength(1)
    expect(failed[0]).not.toContain('swordfish')
    expect(failed[0]).not.toContain(Buffer.from('\0robot\0swordfish').toString('base64'))
  })

  test('does not affect later e-mails', async () => {
    let down = true
    const { url, received } = await startMailServer({
      onMailFrom: (_, __, done) => {
        done(down ? refuse() : undefined)
      },
    })
    const { ask } = await startWith({ SMTP_URL: url })
    const email = newEmail()

    await ask(email)
    down = false
    await ask(email)

    expect(received).toHaveLength(1)
  })
})
