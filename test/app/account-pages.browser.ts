import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Language, languages } from '../../engine/contract/languages.ts'
import { negotiateLanguage } from '../../engine/texts/engine-texts.ts'
import { findViolations, launchBrowser } from '../fixtures/browser.ts'
import { codeSentTo, wrongCodeFor } from '../../engine/test/fixtures/http.ts'
import { registerDeviceApp, requestDeviceCodes } from '../../engine/test/fixtures/device-app.ts'
import { registerApp } from '../../engine/test/fixtures/oauth-app.ts'
import { newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'

const service = await startService(await settingsWithAddress())
const app = await registerApp(service, { client_name: 'A notebook' })
const emphatic = await registerApp(service, { client_name: 'Notes!' })
let browser: Browser

beforeAll(async () => {
  browser = await launchBrowser()
})

afterAll(() => browser.close())

interface Appearance {
  language: Language
  colorScheme?: 'light' | 'dark'
  authorizationUrl?: string
}

/** Opens every page of a sign-in, in a window of 320 pixels, and calls `check` on each page. */
async function visitPages(
  { language, colorScheme = 'light', authorizationUrl = app.authorizationUrl() }: Appearance,
  check: (page: Page, name: string) => Promise<void>,
) {
  const context = await browser.newContext({
    // axe needs a script, which the Content-Security-Policy of the pages forbids.
    bypassCSP: true,
    colorScheme,
    locale: language,
    viewport: { width: 320, height: 640 },
  })
  const page = await context.newPage()
  const email = newEmail()
  const submit = (action: string) => page.locator(`button[value="${action}"]`).click()
  const enterCode = async (code: string) => {
    await page.locator('#otp').fill(code)
    await submit('sign-in')
  }
  await page.goto(authorizationUrl)
  await check(page, 'email')
  await page.locator('#email').fill(email)
  await submit('send')
  await page.locator('#otp').waitFor()
  const code = codeSentTo(service, email) ?? ''
  await enterCode(wrongCodeFor(code))
  await page.getByRole('alert').waitFor()
  await check(page, 'code')
  await enterCode(code)
  await page.locator('button[value="allow"]').waitFor()
  await check(page, 'consent')
  await visitDevicePages(page, check)
  await page.goto(app.authorizationUrl({ client_id: 'unknown' }))
  await check(page, 'error')
  await context.close()
}

/** Opens every page for an app on another device, as a signed-in person. */
async function visitDevicePages(page: Page, check: (page: Page, name: string) => Promise<void>) {
  const { verification_uri_complete } = await requestDeviceCodes(service, await registerDeviceApp(service))
  const code = page.locator('#user_code')
  const submit = (action: string) => page.locator(`button[value="${action}"]`).click()
  await page.goto(verification_uri_complete)
  const shown = await code.inputValue()
  await code.fill('BBBB')
  await submit('continue')
  await page.getByRole('alert').waitFor()
  await check(page, 'device code')
  await code.fill(shown)
  await submit('continue')
  await page.getByText(shown).waitFor()
  await check(page, 'device consent')
  await submit('allow')
  await page.locator('button').waitFor({ state: 'detached' })
  await check(page, 'device')
}

test.each<Appearance>([
  { language: 'en' },
  { language: 'en', colorScheme: 'dark' },
  { language: 'ar' },
  { language: 'he', colorScheme: 'dark' },
  { language: 'ja' },
])('axe finds no accessibility problem on any page: %j', async (appearance) => {
  await visitPages(appearance, async (page, name) => {
    expect(await findViolations(page), name).toEqual([])
  })
})

test('axe finds a removed label, and a small button beside another one', async () => {
  const page = await browser.newPage({ bypassCSP: true })
  await page.goto(app.authorizationUrl())
  await page.evaluate("document.querySelector('label').remove()")
  await page.evaluate(`{
    const small = document.createElement('button')
    small.textContent = 'x'
    small.style = 'display: block; min-height: 0; min-width: 0; height: 16px; width: 16px; margin: 0; padding: 0; border: 0'
    document.querySelector('form').append(small, small.cloneNode(true))
  }`)

  const violations = (await findViolations(page)).join()
  expect(violations).toContain('label: ')
  expect(violations).toContain('target-size: ')
  await page.close()
})

describe.each(languages)('in the language %s', (language) => {
  const { direction, translate } = negotiateLanguage(language)

  test('every page has the direction of the language and fits a narrow screen', async () => {
    const names: string[] = []
    await visitPages({ language }, async (page, name) => {
      names.push(name)
      expect(await page.locator('html').getAttribute('lang')).toBe(language)
      const layout = await page.evaluate<unknown[]>(
        '[document.documentElement.scrollWidth, getComputedStyle(document.body).direction]',
      )
      expect(layout, name).toEqual([320, direction])
      if (name.endsWith('consent')) await expectSafeDefault(page)
    })
    expect(names).toEqual(['email', 'code', 'consent', 'device code', 'device consent', 'device', 'error'])
  })

  /** Checks that “Deny” comes first in the reading direction, and that the two buttons have different colors. */
  async function expectSafeDefault(page: Page) {
    const [deny, allow] = [translate('deny'), translate('allow')].map((name) =>
      page.getByRole('button', { name, exact: true }),
    )
    const boxes = [await deny?.boundingBox(), await allow?.boundingBox()]
    const colors = await page.evaluate<string[]>(
      `[...document.querySelectorAll('button')].map((button) => getComputedStyle(button).backgroundColor)`,
    )
    const [first, second] = boxes.map((box) => ({ x: box?.x ?? 0, y: box?.y ?? 0 }))
    if (first?.y === second?.y) expect((first?.x ?? 0) < (second?.x ?? 0)).toBe(direction === 'ltr')
    else expect(first?.y).toBeLessThan(second?.y ?? 0)
    expect(new Set(colors).size).toBe(2)
  }
})

test('the Enter key does not grant access before a button is selected', async () => {
  const page = await browser.newPage()
  await page.goto(app.authorizationUrl())
  const email = newEmail()
  await page.locator('#email').fill(email)
  await page.keyboard.press('Enter')
  await page.locator('#otp').waitFor()
  await page.locator('#otp').fill(codeSentTo(service, email) ?? '')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Allow' }).waitFor()
  const consent = page.url()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')

  expect(page.url()).toBe(consent)
  expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(1)
  await page.close()
})

test('a page that is written from right to left does not reorder the name of an app', async () => {
  const leftOf = (index: number) =>
    `(() => {
      const range = document.createRange()
      const text = document.querySelector('h1 bdi').firstChild
      range.setStart(text, ${index})
      range.setEnd(text, ${index + 1})
      return range.getBoundingClientRect().left
    })()`
  const positions: number[] = []
  await visitPages({ language: 'he', authorizationUrl: emphatic.authorizationUrl() }, async (page, name) => {
    if (name === 'consent')
      for (const index of [0, 5]) positions.push(await page.evaluate<number>(leftOf(index)))
  })

  // Without isolation, the exclamation mark would be left of the name.
  expect(positions).toEqual([...positions].sort((a, b) => a - b))
  expect(positions).toHaveLength(2)
})

test('the link on the page for the code returns to the page for the address', async () => {
  const page = await browser.newPage()
  await page.goto(app.authorizationUrl({ state: 'a state' }))
  await page.locator('#email').fill(newEmail())
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await page.getByRole('link', { name: 'Use a different e-mail address' }).click()

  await page.locator('#email').waitFor()
  expect(new URL(page.url()).searchParams.get('state')).toBe('a state')
  await page.close()
})
