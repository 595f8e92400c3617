import { htmlUnescape } from 'escape-goat'
import { afterAll, describe, expect, test } from 'vitest'

import { newEmail } from '../../fixtures/bind-service.ts'
import { registerApp } from '../../fixtures/oauth-app.ts'
import { formType } from '../../fixtures/http.ts'
import { createBrowser, redirectOf, startProvider } from './provider.ts'
import { oidc, startWithSignIn } from './service.ts'

const provider = await startProvider()
afterAll(() => provider.stop())

const service = await startWithSignIn({ oidc: [oidc(provider, 'acme', 'A & <b>Me</b>')] })
const app = await registerApp(service)

function become(claims: Record<string, unknown> = {}) {
  provider.person = { sub: crypto.randomUUID(), email: newEmail(), email_verified: true, ...claims }
  return createBrowser(service.origin)
}
type Browser = ReturnType<typeof become>

/** Presses the button of the provider on a page without scripts. Returns the page that leads to the provider. */
const press = (browser: Browser, path: string, headers: Record<string, string> = {}) =>
  browser.send(path, {
    method: 'POST',
    body: 'action=provider:acme',
    headers: { ...formType, 'sec-fetch-site': 'same-origin', origin: service.origin, ...headers },
  })

/** Signs in on a page. Returns where the browser is in the end. */
async function signIn(browser: Browser, path: string) {
  const page = await press(browser, path)
  const url = /^0; url=(.*)$/.exec(page.headers.get('refresh') ?? '')?.[1] ?? ''
  expect(htmlUnescape(await page.text())).toContain(`<a href="${url}">Continue with`)
  return redirectOf(await browser.send(await browser.visit(url)))
}

describe.each([
  ['/authorize', app.authorizationUrl().slice(service.origin.length), 'requests access to the account'],
  ['/device', '/device?user_code=ABCD-EFGH', 'Enter the code'],
])('the page %s', (_, path, signedIn) => {
  test('has a button for each provider, whose name is escaped', async () => {
    const html = await (await become().send(path)).text()

    expect(html).toContain('value="provider:acme"')
    expect(html).toContain('Continue with <bdi>A &amp; &lt;b&gt;Me&lt;/b&gt;</bdi>')
  })

  test('continues after the sign-in by a provider', async () => {
    const browser = become()

    const location = await signIn(browser, path)

    expect(location).toBe(path)
    expect(await (await browser.send(location)).text()).toContain(signedIn)
  })

  test('shows why the sign-in did not succeed', async () => {
    const browser = become({ email_verified: false })

    const location = await signIn(browser, path)

    expect(location).toBe(`${path}&error=UNVERIFIED_ADDRESS`)
    expect(await (await browser.send(location)).text()).toContain('has not verified your e-mail address')
  })

  test('does not begin for a page of another website', async () => {
    const page = await press(become(), path, {
      'sec-fetch-site': 'cross-site',
      origin: 'https://evil.example',
    })

    expect(page.status).toBe(403)
    expect(page.headers.get('refresh')).toBeNull()
  })

  test('shows no text that an address contains', async () => {
    const html = await (await become().send(`${path}&error=%3Cscript%3E`)).text()

    expect(html).not.toContain('script')
    expect(html).not.toContain('role="alert"')
  })
})

test('the session of nobody names the providers for the page', async () => {
  const { headers } = await become().send('/api/auth/get-session')

  expect(JSON.parse(decodeURIComponent(headers.get('sign-in-providers') ?? ''))).toEqual([
    { id: 'acme', name: 'A & <b>Me</b>' },
  ])
})
