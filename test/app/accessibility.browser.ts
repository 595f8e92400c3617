import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'

import { findViolations, focusedText, openApp, overflows, useBrowser } from '../fixtures/browser.ts'
import { startService } from '../fixtures/service.ts'

const service = await startService()
useBrowser()

const paths = ['/', '/tasks', '/notes', '/devices', '/account', '/reservation']

/** Opens all views one after the other, as a person with a task and two notes. */
async function* openViews(options: BrowserContextOptions) {
  const { page, client } = await openApp(service, options)
  await client.tasks.create({ taskTitle: 'Write', taskDesc: 'For Monday' })
  for (const title of ['Plan', 'x'.repeat(120)]) await client.notes.create({ title, body: 'y'.repeat(600) })
  for (const path of paths) {
    await page.goto(service.origin + path)
    await page.locator('footer').waitFor({ state: 'attached' })
    await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
    yield { page, path }
  }
}

/** Moves the focus through the page. Returns the elements with the focus that are outside of the window or covered. */
const findCovered = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const covered = []
    for (const control of document.querySelectorAll('a, button, input, select, textarea')) {
      if (!control.checkVisibility({ visibilityProperty: true }) || control.disabled) continue
      control.focus()
      if (document.activeElement !== control) continue
      const { left, right, top, bottom } = control.getBoundingClientRect()
      const x = (left + right) / 2
      const y = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2
      const found = document.elementFromPoint(x, y)
      if (!found || !(control.contains(found) || found.contains(control))) covered.push(control.outerHTML)
    }
    return covered
  })()`)

/** Moves the focus through the page. Returns the texts that the ring of the focus touches, with their controls. */
const findCutTexts = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const texts = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const { currentNode: node } = walker
      const isShown = node.data.trim() && node.parentElement.checkVisibility({ visibilityProperty: true })
      if (!isShown || node.parentElement.closest('.hidden, .skip, option, noscript')) continue
      texts.push(node)
    }
    const cut = []
    for (const control of document.querySelectorAll('a, button, input, select, textarea')) {
      if (!control.checkVisibility({ visibilityProperty: true }) || control.disabled) continue
      control.focus({ focusVisible: true })
      const { outlineWidth, outlineOffset } = getComputedStyle(control)
      const ring = parseFloat(outlineWidth) + parseFloat(outlineOffset)
      const { left, right, top, bottom } = control.getBoundingClientRect()
      for (const text of texts) {
        if (control.contains(text) || !text.isConnected) continue
        const range = document.createRange()
        range.setStart(text, text.data.search(/\\S/))
        range.setEnd(text, text.data.trimEnd().length)
        // A text that is cut off ends where its box does.
        const ends = [text.parentElement, text.parentElement.parentElement]
          .filter((element) => getComputedStyle(element).overflowX !== 'visible')
          .map((element) => element.getBoundingClientRect())
        for (const { left: start, right: end, top: above, bottom: below } of range.getClientRects()) {
          const box = {
            left: Math.max(start, ...ends.map((element) => element.left)),
            right: Math.min(end, ...ends.map((element) => element.right)),
            top: above,
            bottom: below,
          }
          const found = document.elementFromPoint((box.left + box.right) / 2, box.bottom - 1)
          // The bar of narrow screens covers the text.
          if (!text.parentElement.contains(found)) continue
          const isBeside = box.right <= left - ring || box.left >= right + ring
          if (!isBeside && box.bottom > top - ring && box.top < bottom + ring)
            cut.push(text.data + ' | ' + control.outerHTML)
        }
      }
    }
    return cut
  })()`)

const styleOf = (page: Page, element: string, property: string) =>
  page.evaluate<string>(`getComputedStyle(${element}).${property}`)

test('with a zoom of 400 %, each control is reachable, and no view scrolls horizontally', async () => {
  for await (const { page, path } of openViews({ viewport: { width: 320, height: 256 } })) {
    expect(await overflows(page), path).toBe(false)
    expect(await findCovered(page), path).toEqual([])
  }
})

test('the ring of the focus touches no text', async () => {
  for (const width of [390, 1280])
    for await (const { page, path } of openViews({ viewport: { width, height: 800 } }))
      expect(await findCutTexts(page), `${path}, ${width} px`).toEqual([])
})

test('on a phone, the form for new items leaves most of the window to the list', async () => {
  const limits: Record<string, number> = { '/tasks': 200, '/notes': 320 }
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
  for await (const { page, path } of openViews(phone)) {
    const limit = limits[path]
    if (limit === undefined) continue
    const { y } = (await page.locator('main .items > li').first().boundingBox()) ?? {}
    expect(y, path).toBeLessThanOrEqual(limit)
    expect(await findViolations(page), path).toEqual([])
  }
})

test('with reduced motion, nothing moves', async () => {
  for await (const { page, path } of openViews({ reducedMotion: 'reduce' })) {
    await page.locator('[popovertarget=settings]').click()
    await page.getByRole('button', { name: 'Sign out' }).hover()
    expect(await page.evaluate('document.getAnimations().length'), path).toBe(0)
  }
})

test('with forced colors, the current view and the focus are marked without a background', async () => {
  for await (const { page, path } of openViews({ forcedColors: 'active' })) {
    const current = "document.querySelector('nav [aria-current]')"
    expect(await styleOf(page, current, 'textDecorationLine'), path).toBe('underline')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await styleOf(page, 'document.activeElement', 'outlineStyle'), path).not.toBe('none')
    expect(await findViolations(page), path).toEqual([])
  }
})

test('from right to left, the header is mirrored, and no view scrolls horizontally', async () => {
  for (const width of [320, 1280])
    for await (const { page, path } of openViews({ locale: 'ar', viewport: { width, height: 800 } })) {
      expect(await overflows(page), path).toBe(false)
      const { x: logo = 0 } = (await page.locator('.brand').boundingBox()) ?? {}
      const { x: settings = 0 } = (await page.locator('[popovertarget=settings]').boundingBox()) ?? {}
      expect(logo, path).toBeGreaterThan(settings)
    }
})

test.each([
  [390, '.open, nav'],
  [768, '.open'],
])('%d px wide, the focus reaches nothing behind an open note', async (width, places) => {
  const { page, client } = await openApp(service, { path: '/notes', viewport: { width, height: 800 } })
  for (const title of ['Milk', 'Plan']) await client.notes.create({ title, body: 'Text' })
  const item = page.getByRole('listitem').filter({ hasText: 'Plan' })
  await item.getByRole('link', { name: 'Plan' }).click()
  await item.getByRole('link', { name: 'Close' }).waitFor()
  expect(await findCovered(page)).toEqual([])
  for (let step = 1; step <= 15; step++) {
    await page.keyboard.press('Tab')
    const outside = `document.activeElement.matches('body, :is(${places}) *') ? '' : document.activeElement.outerHTML`
    expect(await page.evaluate(outside)).toBe('')
  }

  await item.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await item.getByRole('link', { name: 'Close' }).click()
  expect(await focusedText(page)).toBe('Plan')

  await item.getByRole('link', { name: 'Plan' }).click()
  await item.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete note' }).click()
  await item.waitFor({ state: 'detached' })
  await page
    .getByRole('listitem')
    .filter({ hasText: 'Milk' })
    .getByRole('button')
    .and(page.locator(':focus'))
    .waitFor()
})
