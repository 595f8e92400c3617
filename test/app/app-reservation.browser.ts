import { describe, expect, test } from 'vitest'

import { languages } from '../../engine/contract/languages.ts'
import { findViolations, openApp, overflows, useBrowser } from '../fixtures/browser.ts'
import { startService } from '../fixtures/service.ts'

const service = await startService()
useBrowser()

const openReservation = async (options: Partial<Parameters<typeof openApp>[1]> = {}) => {
  const { page, expectStatus } = await openApp(service, { email: '', path: '/reservation', ...options })
  const [name, guests] = [page.getByRole('textbox', { name: 'Name' }), page.getByLabel('Guests')]
  // The browser loads the view on demand.
  await name.waitFor()
  const reserve = (values: { name: string; guests: string }) =>
    name
      .fill(values.name)
      .then(() => guests.fill(values.guests))
      .then(() => page.getByRole('button', { name: 'Reserve' }).click())
  return { page, expectStatus, name, guests, reserve, answer: page.locator('.answer') }
}

describe('a reservation', () => {
  test('is confirmed in the language of the page', async () => {
    const { reserve, answer } = await openReservation()

    await reserve({ name: 'Ada', guests: '2' })

    await answer.getByText('Thank you, Ada. 2 seats are reserved.').waitFor()
    expect(await answer.getAttribute('role')).toBe('status')
    expect([await answer.getAttribute('lang'), await answer.getAttribute('dir')]).toEqual(['en', 'ltr'])
  })

  test('is answered in each of the languages, with their direction', async () => {
    const { page, reserve, answer } = await openReservation()
    const choice = page.getByRole('combobox', { name: 'Language of the answer' })
    expect(await choice.getByRole('option').count()).toBe(languages.length)

    const answers = new Set<string | null>()
    for (const language of languages) {
      await choice.selectOption(language)
      await reserve({ name: 'Ada', guests: '3' })
      await page.locator(`.answer[lang="${language}"]`).getByText('Ada').waitFor()
      expect(await answer.getAttribute('dir')).toBe(['ar', 'fa', 'he'].includes(language) ? 'rtl' : 'ltr')
      answers.add(await answer.textContent())
    }

    expect(answers.size).toBe(languages.length)
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
  })

  test('shows each violated rule at its field, in the chosen language', async () => {
    const { page, expectStatus, name, guests, reserve, answer } = await openReservation()
    expectStatus(400)
    await page.getByRole('combobox', { name: 'Language of the answer' }).selectOption('ar')

    await reserve({ name: ' ', guests: '99' })

    await page.locator('input:focus[aria-invalid=true]').waitFor()
    expect(await page.locator(':focus').inputValue()).toBe(' ')
    for (const field of [name, guests]) {
      const id = await field.getAttribute('aria-describedby')
      const error = page.locator(`[id="${id}"]`)
      expect(await error.textContent()).toMatch(/\p{Script=Arabic}/u)
      expect([await error.getAttribute('lang'), await error.getAttribute('dir')]).toEqual(['ar', 'rtl'])
    }

    await reserve({ name: 'Ada', guests: '0.5' })
    // Without an answer, no field is invalid.
    const areInvalid = () => Promise.all([name, guests].map((field) => field.getAttribute('aria-invalid')))
    await expect.poll(areInvalid).toEqual([null, 'true'])
    await reserve({ name: 'Ada', guests: '2' })
    await answer.getByText('Ada').waitFor()
    expect(await page.locator('[aria-invalid]').count()).toBe(0)
  })

  test('shows a hostile name as text', async () => {
    const { reserve, answer } = await openReservation()
    const hostile = '<img src=x onerror=alert(1)> \u202Etfel 😀'

    await reserve({ name: hostile, guests: '2' })

    await answer.getByText('<img src=x').waitFor()
    expect(await answer.textContent()).toContain(hostile)
    expect(await answer.locator('img').count()).toBe(0)
  })

  test('can be tried again after a lost connection', async () => {
    const { page, reserve, answer } = await openReservation()
    await page.route('**/rpc/reservations/create', (route) => route.abort('aborted'))
    await reserve({ name: 'Ada', guests: '2' })
    await page.getByRole('alert').getByText('The service does not answer').waitFor()

    await page.unroute('**/rpc/reservations/create')
    await page.getByRole('button', { name: 'Reserve' }).click()

    await answer.getByText('Ada').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test.each(['light', 'dark'] as const)(
    'has no accessibility violations, and fits 320 px: %s',
    async (colorScheme) => {
      const { page, expectStatus, reserve, answer } = await openReservation({
        colorScheme,
        viewport: { width: 320, height: 640 },
      })
      expectStatus(400)
      await reserve({ name: '', guests: '2' })
      await page.locator('[aria-invalid]').waitFor()
      expect(await findViolations(page)).toEqual([])

      await page.getByRole('combobox', { name: 'Language of the answer' }).selectOption('he')
      await reserve({ name: 'x'.repeat(200), guests: '2' })
      await answer.getByText('xxx').waitFor()

      expect(await findViolations(page)).toEqual([])
      expect(await overflows(page)).toBe(false)
    },
  )
})
