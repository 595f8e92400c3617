import { describe, expect, test } from 'vitest'

import { startConsole } from '../../engine/test/fixtures/console.ts'
import { findViolations, overflows, useBrowser } from '../fixtures/browser.ts'
import { openView } from '../fixtures/console-view.ts'

useBrowser()
const running = await startConsole()
const { client } = running

const call = (operation: string, input: unknown, person: 'ada' | 'charles' = 'ada') =>
  client.procedures.call({ operation, input, caller: { person, scopes: null }, headers: {} })

/** Opens a stream by the form of the console. */
async function openStream(topics: string[], person: string) {
  const { page } = await openView(running, 'live/open')
  const choices = page.getByRole('group', { name: /^topics/ }).getByRole('checkbox')
  await choices.first().waitFor()
  for (const choice of await choices.all()) await choice.setChecked(false)
  for (const topic of topics) await page.getByRole('checkbox', { name: topic, exact: true }).check()
  expect(await page.getByText('Accept-Language').count()).toBe(0)
  await page.getByLabel('Call as').selectOption({ label: person })
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByRole('heading', { name: topics.join(', ') }).waitFor()
  return page
}

test('a stream shows each event with its size, its delay, and the procedure that announced the topic', async () => {
  const page = await openStream(['shelves'], 'Ada Lovelace')
  const events = page.getByRole('region', { name: 'Events' })
  await events.getByText('Events (1)').waitFor()

  await call('shelves.create', { name: 'Seen live' })

  await events
    .getByText(/^\d\d:\d\d:\d\d shelves, .* B, after .* ms$/)
    .nth(1)
    .waitFor()
  await events.getByText('"Seen live"').first().waitFor()
  const announcements = page.getByRole('region', { name: 'Announcements', exact: true })
  await announcements
    .getByRole('cell', { name: /^An event\./ })
    .first()
    .waitFor()
  await announcements.getByRole('cell', { name: 'ada@example.com' }).first().waitFor()
  await announcements.getByRole('link', { name: 'shelves.create' }).first().click()
  const request = page.getByRole('region', { name: 'Request', exact: true })
  await request.getByText('insert into "shelves"').waitFor()
})

describe('a stream that received nothing says why', () => {
  test('if nobody has announced the topic', async () => {
    const page = await openStream(['visits'], 'Signed out')

    const why = page.getByRole('region', { name: 'Announcements', exact: true })
    await why.getByText('Nobody has announced visits since the stream was opened').waitFor()
    await why.getByRole('link', { name: 'visits.add' }).waitFor()
  })

  test('if the change concerns other people, or another topic', async () => {
    const page = await openStream(['shelves'], 'Charles Babbage')

    await call('shelves.create', { name: 'Of Ada' })
    await call('visits.add', undefined)

    const why = page.getByRole('region', { name: 'Announcements', exact: true })
    await why
      .getByText(/not with these recipients/)
      .first()
      .waitFor()
    await why.getByText(/^Announcements of other topics/).click()
    await why.getByText('Nothing: the stream does not watch visits.').waitFor()
  })

  test('if the answer is the same as before', async () => {
    const { body } = await call('shelves.create', { name: 'Shared' })
    const { id } = JSON.parse(body) as { id: number }
    const page = await openStream(['shelves'], 'Charles Babbage')

    await call('shelves.unshare', { id, email: 'charles@example.com' })

    await page.getByText(/the answer for this person is the same as before/).waitFor()
  })
})

test('a person closes a stream of the console', async () => {
  const page = await openStream(['visits'], 'Signed out')

  await page.getByRole('button', { name: 'Close the stream' }).click()

  await page.getByRole('heading', { name: 'A stream that has ended' }).waitFor()
  await expect.poll(async () => (await client.live.streams()).length).toBe(0)
})

describe.each([
  ['light', 1280],
  ['dark', 390],
] as const)('in %s colors with %i pixels', (colorScheme, width) => {
  test.each(['announcements', 'open', 'stream', ''])(
    'the view live/%s is accessible, and does not scroll sideways',
    async (item) => {
      const options = { colorScheme, viewport: { width, height: 900 } }
      const { page } = await openView(running, 'live', options)
      await page.getByText('Recording', { exact: true }).waitFor()
      const { stream } = await client.live.open({
        input: { topics: ['shelves'] },
        caller: { person: 'ada', scopes: null },
      })
      await call('shelves.create', { name: 'Shelf' })

      await page.goto(`${running.root}/#/live/${item === 'stream' ? stream : item}`)
      await page.getByRole('heading', { level: 2 }).first().waitFor()
      if (item === 'stream') await page.getByText('"Shelf"').first().waitFor()

      expect(await findViolations(page)).toEqual([])
      expect(await overflows(page)).toBe(false)
    },
  )
})
