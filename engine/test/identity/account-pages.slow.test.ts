import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { users, verifications } from '../../db/accounts/users.ts'
import { insertClient } from '../../db/accounts/oauth.ts'
import { languages } from '../../contract/languages.ts'
import { isMessage, negotiateLanguage } from '../../texts/engine-texts.ts'
import { codePage, consentPage, emailPage, errorPage } from '../../html/account.ts'
import { createPageTranslator } from '../../html/page-translator.ts'
import { signInEmail } from '../../identity/mail.ts'
import { codeSentTo, cookiesAfter, formType, wrongCodeFor } from '../fixtures/http.ts'
import { appWithId, registerApp } from '../fixtures/oauth-app.ts'
import { newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'
import { app as application } from '../library/app.ts'

const service = await startService(await settingsWithAddress())
const limited = await startService({
  ...(await settingsWithAddress()),
  RATE_LIMITS: 'on',
  LIMITS: 'codesByBoth=1,triesByBoth=1,grants=1',
})
const app = await registerApp(service, { client_name: 'A notebook' })
const { db } = service.services

/** Opens a page, or submits its form if `fields` are given. */
async function open(url: string, language: string, fields?: Record<string, string>, cookie = '') {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { 'accept-language': language, cookie, ...(fields && formType) },
    ...(fields && { method: 'POST', body: new URLSearchParams(fields).toString() }),
  })
  const { status, headers } = response
  return { status, headers, html: await response.text() }
}

const textOf = (html: string) =>
  html
    .replace(/<(style|title)>.*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")

const codeFor = (email: string) => codeSentTo(service, email) ?? ''
const requestCode = (email: string, language = 'en') =>
  open(app.authorizationUrl(), language, { action: 'send', email })
const enterCode = (email: string, otp: string, language = 'en') =>
  open(app.authorizationUrl(), language, { action: 'sign-in', email, otp })

async function signIn(email = newEmail()) {
  await requestCode(email)
  return cookiesAfter(await enterCode(email, codeFor(email)))
}

describe.each(languages)('in the language %s', async (language) => {
  const { direction, translate } = negotiateLanguage(language)
  const cookie = await signIn()

  /** Checks the language of a page, and that the page contains the messages. */
  function expectPage({ html, headers }: Awaited<ReturnType<typeof open>>, messages: string[]) {
    expect(headers.get('content-language')).toBe(language)
    expect(headers.get('vary')?.split(/, */)).toContain('Accept-Language')
    expect(html).toContain(`<html lang="${language}" dir="${direction}">`)
    expect(textOf(html)).toContain(application.name)
    for (const message of messages) expect(textOf(html)).toContain(message)
  }

  test('the sign-in pages name the app and warn about its name', async () => {
    const email = newEmail()
    const messages = [translate('signInFor', { app: 'A notebook' }), translate('signInCaution')]

    expectPage(await open(app.authorizationUrl(), language), [...messages, translate('sendCode')])
    expectPage(await requestCode(email, language), [...messages, translate('codeSent', { email })])
    expect(service.letters.findLast(({ to }) => to === email)?.subject).toBe(
      translate('letterSubject', { code: codeFor(email) }),
    )
  })

  test('the consent page describes the access', async () => {
    const page = await open(app.authorizationUrl(), language, undefined, cookie)

    const destination = translate('localProgram', { host: '127.0.0.1:9' })
    const messages = [translate('consentTitle', { app: 'A notebook' }), destination]
    expectPage(page, [...messages, ...['consentCaution', 'allow', 'deny'].map((text) => translate(text))])
  })

  test('the error pages explain the error', async () => {
    const unknown = await open(app.authorizationUrl({ client_id: 'unknown' }), language)
    const invalid = await open(app.authorizationUrl({ scope: 'admin' }), language)

    expectPage(unknown, [translate('problemTitle'), translate('UNKNOWN_APP')])
    expect(textOf(invalid.html)).toContain(translate('INVALID_REQUEST', { details: 'invalid_scope' }))
  })

  test('a wrong code is explained', async () => {
    const email = newEmail()
    await requestCode(email, language)

    expectPage(await enterCode(email, wrongCodeFor(codeFor(email)), language), [translate('INVALID_OTP')])
  })
})

describe('an error on a page', () => {
  const expectMessage = ({ html }: { html: string }, message: string) => {
    expect(isMessage(message)).toBe(true)
    expect(textOf(html)).toContain(negotiateLanguage('en').translate(message))
    expect(html).toContain('role="alert"')
  }
  const ofEmail = (email: string) => eq(verifications.identifier, `sign-in-otp-${email}`)

  test.each(['ada', '', 'a@b', 'a@example.com, b@example.com'])(
    'explains the address %j on the page for the address',
    async (email) => {
      const page = await open(app.authorizationUrl(), 'en', { action: 'send', email })

      expectMessage(page, 'INVALID_EMAIL')
      expect(page.html).toContain('<input id="email"')
    },
  )

  test.each(['', '12345x', '1'.repeat(17), '1\0'])('explains the code %j', async (otp) => {
    expectMessage(await enterCode(newEmail(), otp), 'INVALID_OTP')
  })

  test('explains an expired code', async () => {
    const email = newEmail()
    await requestCode(email)
    const expired = await db
      .update(verifications)
      .set({ expiresAt: new Date(Date.now() - 1000) })
      .where(ofEmail(email))
      .returning()

    expect(expired).toHaveLength(1)
    expectMessage(await enterCode(email, codeFor(email)), 'OTP_EXPIRED')
  })

  test('explains that too many wrong codes were entered', async () => {
    const email = newEmail()
    await requestCode(email)
    const code = codeFor(email)
    for (let tries = 0; tries < 3; tries++) await enterCode(email, wrongCodeFor(code))

    expectMessage(await enterCode(email, code), 'TOO_MANY_ATTEMPTS')
  })

  test('explains that the account is blocked', async () => {
    const email = newEmail()
    await signIn(email)
    await db.update(users).set({ banned: true }).where(eq(users.email, email))
    await requestCode(email)

    const page = await enterCode(email, codeFor(email))

    expectMessage(page, 'BANNED_USER')
    expect(page.headers.getSetCookie()).toEqual([])
  })

  test.each(['allow', 'deny'])('asks a person without a session to sign in: %s', async (action) => {
    const page = await open(app.authorizationUrl(), 'en', { action })

    expectMessage(page, 'UNAUTHORIZED')
    expect(page.html).toContain('<input id="email"')
  })

  test.each(['allow', 'deny', 'send', 'sign-in'])('explains a form of another page: %s', async (action) => {
    const cookie = await signIn()
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'same-site', cookie },
      { origin: 'null', cookie },
    ]
    for (const headers of foreign) {
      const response = await app.submitConsent({ action }, headers)

      expect([response.status, response.headers.get('location')]).toEqual([403, null])
      expectMessage({ html: await response.text() }, 'FOREIGN_FORM')
    }
  })

  test('explains a repeated parameter', async () => {
    expectMessage(await open(`${app.authorizationUrl()}&scope=read`, 'en'), 'BAD_REQUEST')
  })

  test('without a message of its own has a general message', () => {
    expectMessage(
      { html: errorPage(createPageTranslator(service.services.app, 'en'), { code: 'toString' }) },
      'INTERNAL_SERVER_ERROR',
    )
  })

  test('says how long a person must wait, in the language of the page', async () => {
    const own = await registerApp(limited)
    const [url, email] = [own.authorizationUrl(), newEmail()]
    await open(url, 'de', { action: 'send', email })
    const pages = [
      await open(url, 'de', { action: 'send', email, otp: '' }),
      await open(url, 'de', { action: 'sign-in', email, otp: '1' }),
      await open(url, 'de', { action: 'sign-in', email, otp: '1' }),
    ]

    expect(pages.map(({ status }) => status)).toEqual([429, 200, 429])
    expect(Number(pages[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(textOf(pages[0]?.html ?? '')).toMatch(/Bitte versuchen Sie es in \d+ Minuten? noch einmal\./)
    // The person can still enter the code of the first e-mail.
    for (const { html } of pages) expect(html).toContain('<input id="otp"')
  })

  test('says how long a person must wait before the next grant', async () => {
    const own = await registerApp(limited)
    const cookie = await limited.signIn(newEmail())
    await own.submitConsent({ action: 'allow' }, { cookie })

    const { status, headers, html } = await open(own.authorizationUrl(), 'en', { action: 'allow' }, cookie)

    expect([status, headers.has('retry-after')]).toEqual([429, true])
    expect(textOf(html)).toMatch(/Please try again in \d+ minutes?\./)
  })
})

describe('a hostile value', () => {
  const hostile = `"><script>alert(1)</script><!-- '&amp;`
  const escaped = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- &#39;&amp;amp;'
  const hostileApp = { id: 'https://app.example/x', name: hostile, trusted: false }

  test.each(languages)('is escaped on every page and in the e-mail: %s', (language) => {
    const translator = createPageTranslator({ name: hostile }, language)
    const problem = { code: 'INVALID_REQUEST', values: { details: hostile } }
    const scopeResources = { read: [{ en: hostile }], write: [] }
    const request = {
      app: hostileApp,
      redirectUri: 'https://app.example/',
      scope: 'read write',
      scopeResources,
    }

    for (const html of [
      emailPage(translator, hostileApp),
      codePage(translator, hostileApp, hostile),
      consentPage(translator, request, hostile),
      errorPage(translator, problem),
      signInEmail('ada@example.com', hostile, hostile, translator).html,
    ]) {
      expect(html).toContain(escaped)
      expect(html).not.toMatch(/<script|<!--/)
    }
  })

  test.each(['he', 'en'])('cannot reorder the text of a page: %s', async (language) => {
    const id = crypto.randomUUID()
    const redirect_uri = 'https://app.example/'
    await insertClient(db, { id, name: '\u202Eevil\u2066\u200Fשלום', redirectUris: [redirect_uri] })
    const url = appWithId(service, id).authorizationUrl({ redirect_uri })

    for (const page of [await open(url, language), await open(url, language, undefined, await signIn())]) {
      expect(page.html).toContain('<bdi>evilשלום</bdi>')
      expect(page.html).not.toMatch(/[\u200E\u200F\u202A-\u202E\u2066\u2067]/)
    }
  })

  test('of a title is isolated', async () => {
    const { html } = await open(app.authorizationUrl(), 'ar', undefined, await signIn())

    expect(html).toMatch(/<title>[^<]*\u2068A notebook\u2069[^<]* · Test library<\/title>/)
  })
})

test('an app without a name has a name in the language of the page', async () => {
  const unnamed = await registerApp(service, { client_name: undefined })

  expect(textOf((await open(unnamed.authorizationUrl(), 'fr')).html)).toContain('Une application demande')
})

test('‘Deny’ precedes ‘Allow’, so that the default button of the form does not grant access', async () => {
  const { html } = await open(app.authorizationUrl(), 'en', undefined, await signIn())

  expect(html.match(/value="(allow|deny)"/g)).toEqual(['value="deny"', 'value="allow"'])
})
