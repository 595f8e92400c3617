import { expect, onTestFinished, test } from 'vitest'
import { createTallystick } from 'tallystick-dev/testing'

import { oidc } from '../../engine/test/identity/providers/service.ts'
import { startProvider } from '../../engine/test/identity/providers/provider.ts'
import { newEmail, settingsWithAddress } from '../../engine/test/fixtures/bind-service.ts'
import { app } from '../../src/app.ts'
import { findViolations, openContext, useBrowser } from '../fixtures/browser.ts'

useBrowser()

/** Opens a view of the page in a browser. The provider signs in a new person. */
async function open(path: string, claims: Record<string, unknown> = {}) {
  const provider = await startProvider()
  const settings = await settingsWithAddress()
  const service = await createTallystick({ ...app, signIn: { oidc: [oidc(provider)] } }, settings)
  const origin = await service.listen(Number(settings.PORT))
  const context = await openContext()
  onTestFinished(async () => {
    await context.close()
    await service.close()
    await provider.stop()
  })
  const email = newEmail()
  provider.person = { sub: crypto.randomUUID(), email, email_verified: true, name: 'Ada', ...claims }
  const page = await context.newPage()
  const visit = async (cookie = '') => {
    const [name = '', value = ''] = cookie.split('=')
    if (cookie) await context.addCookies([{ name, value, url: origin }])
    await page.goto(origin + path)
  }
  return { page, email, service, visit }
}

test('a person signs in by a provider, and returns to the view', async () => {
  const { page, visit } = await open('/tasks')
  await visit()
  const button = page.getByRole('button', { name: 'Continue with Acme' })
  await button.waitFor()
  expect(await findViolations(page)).toEqual([])

  await button.click()

  await page.getByRole('textbox', { name: 'New task' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/tasks')
  expect(await page.getByText('Ada').first().isVisible()).toBe(true)
})

test('a refused sign-in is explained, and the address has no code of an error', async () => {
  const { page, visit } = await open('/tasks', { email_verified: false })
  await visit()

  await page.getByRole('button', { name: 'Continue with Acme' }).click()

  await page.getByRole('alert').getByText('has not verified your e-mail address').waitFor()
  expect(new URL(page.url()).search).toBe('')
})

test('a person connects and disconnects a provider in the account', async () => {
  const { page, email, service, visit } = await open('/account')
  await visit(await service.signIn(email))

  await page.getByRole('button', { name: 'Connect Acme' }).click()
  const disconnect = page.getByRole('button', { name: 'Disconnect Acme' })
  await disconnect.waitFor()
  expect(await findViolations(page)).toEqual([])
  await disconnect.click()

  await page.getByRole('button', { name: 'Connect Acme', exact: true }).waitFor()
  expect(service.letters.slice(-2).map(({ subject }) => subject)).toEqual([
    expect.stringMatching(/^Acme is now connected/),
    expect.stringMatching(/^Acme is no longer connected/),
  ])
})
