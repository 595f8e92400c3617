import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import type { Client } from '../../contract/client.ts'
import { findViolations, focusedText, openApp, overflows, useBrowser } from '../fixtures/browser.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
useBrowser()

const itemsOf = (page: Page) => page.getByRole('list', { name: 'Notes' }).getByRole('listitem')
const itemOf = (page: Page, title: string) => itemsOf(page).filter({ hasText: title })
const button = (parent: Page | Locator, name: string) => parent.getByRole('button', { name, exact: true })
const buttonsOf = (item: Locator) => item.getByRole('button').allTextContents()

async function write(parent: Page | Locator, title: string, body: string) {
  await parent.getByRole('textbox', { name: 'Title' }).fill(title)
  await parent.getByRole('textbox', { name: 'Body' }).fill(body)
}

async function share(page: Page, title: string, email: string, role: 'Reader' | 'Editor') {
  const item = itemOf(page, title)
  await button(item, 'Share').click()
  await item.getByRole('textbox', { name: 'Share with' }).fill(email)
  await item.getByRole('combobox', { name: 'Role', exact: true }).selectOption(role)
  await button(item, 'Share note').click()
  await item.getByRole('status').getByText(`Shared with ${email}.`).waitFor()
}

const openNotes = (email = newEmail()) => openApp(service, { path: '/notes', email })

/** Opens the notes of two people in two contexts. Ada has shared the note `Plan` with Bob as an editor. */
async function openForTwo() {
  const ada = await openNotes()
  const bob = await openNotes()
  const { id } = await ada.client.notes.create({ title: 'Plan', body: 'Milk' })
  await ada.client.notes.share({ id, email: bob.email, role: 'editor' })
  await itemOf(ada.page, 'Plan').waitFor()
  await itemOf(bob.page, 'Plan').waitFor()
  return { ada, bob, id }
}

/** Returns the first note of a person, as title and body. */
const firstNoteOf = async (client: Client) => {
  const [note] = (await client.notes.list()).notes
  return note && [note.title, note.body]
}

describe('notes', () => {
  test('are written, edited and deleted', async () => {
    const { page, client } = await openNotes()
    await page.getByText('You have no notes.').waitFor()
    await write(page, 'Plan', 'Milk\nBread')
    await button(page, 'Save note').click()

    const item = itemOf(page, 'Plan')
    await item.getByText('Milk\nBread').waitFor()
    await item.getByText('Not shared').waitFor()
    expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('')
    expect(await buttonsOf(item)).toEqual(['Edit', 'Share', 'Delete'])

    await button(item, 'Edit').click()
    await write(page, 'Second plan', 'Milk')
    await button(page, 'Save note').click()
    await itemOf(page, 'Second plan').getByText('Milk', { exact: true }).waitFor()
    await expect.poll(() => focusedText(page)).toBe('Edit')
    expect(await firstNoteOf(client)).toEqual(['Second plan', 'Milk'])

    await button(itemOf(page, 'Second plan'), 'Delete').click()
    const dialog = page.getByRole('dialog', { name: 'Delete note' })
    await button(dialog, 'Cancel').click()
    expect(await itemsOf(page).count()).toBe(1)
    await button(itemOf(page, 'Second plan'), 'Delete').click()
    await button(dialog, 'Delete note').click()
    await page.getByText('You have no notes.').waitFor()
  })

  test('have two lines in the list, and open beside the list, or on the whole screen', async () => {
    const { page, client } = await openNotes()
    const body = Array.from({ length: 40 }, (_, index) => `Line ${index}`).join('\n')
    await client.notes.create({ title: 'Long', body })
    const item = itemOf(page, 'Long')
    const boxOf = async () => (await item.boundingBox()) ?? { height: Infinity, y: 0 }
    await item.waitFor()
    const closed = await boxOf()
    expect(closed.height).toBeLessThan(80)

    // A row opens at every place without a control.
    await item.click({ position: { x: 200, y: closed.height - 8 } })
    await item.getByText('Line 39').waitFor()
    expect(await boxOf()).toEqual(closed)
    expect(await findViolations(page)).toEqual([])
    await button(item, 'Edit').click()
    await item.getByRole('textbox', { name: 'Body' }).waitFor()
    expect(await boxOf()).toEqual(closed)
    await button(item, 'Cancel').click()
    await page.reload()
    await item.getByText('Line 39').waitFor()
    await page.setViewportSize({ width: 768, height: 700 })
    await expect.poll(boxOf).toEqual({ x: 0, y: 0, width: 768, height: 700 })
    await page.setViewportSize({ width: 400, height: 700 })
    await expect.poll(boxOf).toMatchObject({ x: 0, y: 0, width: 400 })
    expect((await boxOf()).height).toBeGreaterThan(600)
    await item.getByRole('link', { name: 'Close' }).click()
    await expect.poll(async () => (await boxOf()).height).toBeLessThan(120)
  })

  test('are closed by Escape, from the innermost part to the outermost', async () => {
    const { page, client } = await openNotes()
    await client.notes.create({ title: 'Plan', body: 'Milk' })
    const item = itemOf(page, 'Plan')
    await button(item, 'Share').click()
    await item.getByRole('textbox', { name: 'Share with' }).waitFor()

    await page.keyboard.press('Escape')
    await item.getByRole('textbox', { name: 'Share with' }).waitFor({ state: 'detached' })
    expect(await focusedText(page)).toBe('Share')
    await page.getByRole('textbox', { name: 'Title' }).focus()
    await page.keyboard.press('Escape')
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
    await item.getByRole('link', { name: 'Close' }).waitFor()
    await page.keyboard.press('Escape')
    await item.getByRole('link', { name: 'Close' }).waitFor({ state: 'detached' })
    expect(await focusedText(page)).toBe('Plan')
  })

  test('at the address that no longer exist are announced, except after an own deletion', async () => {
    const { page, client } = await openNotes()
    const { id } = await client.notes.create({ title: 'Plan', body: '' })
    await client.notes.create({ title: 'Other', body: '' })
    const item = itemOf(page, 'Plan')
    await item.getByRole('link', { name: 'Plan' }).click()
    await button(item, 'Delete').click()
    await button(page.getByRole('dialog'), 'Delete note').click()
    await item.waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('')
    expect(await page.getByRole('alert').count()).toBe(0)

    await page.goto(`${new URL(page.url()).origin}/notes?note=${id}`)
    await page.getByRole('alert').getByText('This no longer exists.').waitFor()
    await itemOf(page, 'Other').getByRole('link', { name: 'Other' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  test('of other people are marked, with the actions that the role permits, without a reload', async () => {
    const ada = await openNotes()
    const bob = await openNotes()
    await ada.client.notes.create({ title: 'To read', body: 'Milk' })
    await ada.client.notes.create({ title: 'To edit', body: 'Bread' })
    await share(ada.page, 'To read', bob.email, 'Reader')
    await share(ada.page, 'To edit', bob.email, 'Editor')
    await itemOf(ada.page, 'To read').getByText('Shared with 1 person').waitFor()

    await itemOf(bob.page, 'To read').getByText('Shared with you to read').waitFor()
    await itemOf(bob.page, 'To edit').getByText('Shared with you to edit').waitFor()
    expect(await buttonsOf(itemOf(bob.page, 'To read'))).toEqual(['Leave note'])
    expect(await buttonsOf(itemOf(bob.page, 'To edit'))).toEqual(['Edit', 'Leave note'])

    await button(itemOf(bob.page, 'To edit'), 'Edit').click()
    await write(bob.page, 'To edit', 'Bread and butter')
    await button(bob.page, 'Save note').click()
    await itemOf(ada.page, 'To edit').getByText('Bread and butter').waitFor()
    // The event of the deletion can arrive before the response. The page then requests the shares of the deleted note.
    ada.expectStatus(404)
    await button(itemOf(ada.page, 'To read'), 'Delete').click()
    await button(ada.page.getByRole('dialog'), 'Delete note').click()
    await itemOf(bob.page, 'To read').waitFor({ state: 'detached' })
  })

  test('of other people can be left, after a question', async () => {
    const { ada, bob, id } = await openForTwo()
    const dialog = bob.page.getByRole('dialog', { name: 'Leave note' })

    await button(itemOf(bob.page, 'Plan'), 'Leave note').click()
    await dialog.getByText('You lose access to the note').waitFor()
    expect(await findViolations(bob.page)).toEqual([])
    await button(dialog, 'Cancel').click()
    expect((await ada.client.notes.shares({ id })).shares).toMatchObject([{ email: bob.email }])
    await button(itemOf(bob.page, 'Plan'), 'Leave note').click()
    await button(dialog, 'Leave note').click()

    await bob.page.getByText('You have no notes.').waitFor()
    await itemOf(ada.page, 'Plan').getByText('Not shared').waitFor()
  })

  test('cannot be shared with the own address', async () => {
    const { page, client, email } = await openNotes()
    await client.notes.create({ title: 'Plan', body: '' })
    await button(itemOf(page, 'Plan'), 'Share').click()
    await page.getByRole('textbox', { name: 'Share with' }).fill(email)
    await page.getByText('This is your own address.').waitFor()
    await button(page, 'Share note').click()
    expect((await client.notes.list()).notes[0]?.sharedWith).toBe(0)
  })

  test('show HTML, bidirectional characters and 120 emoji as text', async () => {
    const { page } = await openNotes()
    for (const title of ['<img src=x onerror=alert(1)>', '\u202Egnp.exe', '😀'.repeat(120)]) {
      await write(page, title, `Body: ${title}`)
      await button(page, 'Save note').click()
      await itemOf(page, title).waitFor()
      expect(await itemOf(page, title).getByRole('heading').textContent()).toBe(title)
      await itemOf(page, title).getByText(`Body: ${title}`).waitFor()
    }
    expect(await page.locator('main img').count()).toBe(0)
    expect(await overflows(page)).toBe(false)
  })

  test('that are too long are not sent', async () => {
    const { page, client } = await openNotes()
    await write(page, '😀'.repeat(121), '😀'.repeat(4001))
    await page.getByText('120 characters at most.').waitFor()
    await page.getByText('4000 characters at most.').waitFor()
    await button(page, 'Save note').click()
    expect((await client.notes.list()).notes).toEqual([])
  })

  test('appear in pages', async () => {
    const { page, client } = await openNotes()
    for (let number = 1; number <= 120; number++)
      await client.notes.create({ title: `Note ${number}.`, body: 'Text' })
    await page.reload()
    await itemOf(page, 'Note 120.').waitFor()
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 5000)
        return itemsOf(page).count()
      })
      .toBe(120)
    expect(await button(page, 'Show more').count()).toBe(0)
  })

  test('keep the text if the service does not answer', async () => {
    const { page } = await openNotes()
    await page.route('**/rpc/notes/create', (route) => route.abort('aborted'))
    await write(page, 'Plan', 'Milk')
    await button(page, 'Save note').click()
    await page.getByRole('alert').getByText('The service does not answer.').waitFor()
    expect(await page.getByRole('textbox', { name: 'Body' }).inputValue()).toBe('Milk')
  })
})

describe('while a person edits a note', () => {
  /** Bob begins to edit the note of Ada. */
  async function edit() {
    const app = await openForTwo()
    await button(itemOf(app.bob.page, 'Plan'), 'Edit').click()
    await write(app.bob.page, 'Plan', 'Text of Bob')
    return { ...app, page: app.bob.page }
  }

  test.each([
    ['Keep mine', 'Text of Bob'],
    ['Take theirs', 'Text of Ada'],
  ])('a change by another person is announced, and the person chooses: %s', async (choice, body) => {
    const { ada, page } = await edit()
    await button(itemOf(ada.page, 'Plan'), 'Edit').click()
    await write(ada.page, 'Plan', 'Text of Ada')
    await button(ada.page, 'Save note').click()

    await page.getByRole('alert').getByText('This note was changed elsewhere.').waitFor()
    await page.locator('.versions').getByText('Text of Bob').waitFor()
    await page.locator('.versions').getByText('Text of Ada').waitFor()
    await button(page, 'Save note').click()
    expect(await page.locator('.conflict:focus').count()).toBe(1)
    expect(await firstNoteOf(ada.client)).toEqual(['Plan', 'Text of Ada'])

    await button(page, choice).click()
    await button(page, choice).waitFor({ state: 'detached' })
    await itemOf(page, 'Plan').getByText(body).waitFor()
    await itemOf(ada.page, 'Plan').getByText(body).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('the service refuses to overwrite a change in the last moment, if the page has an entity tag', async () => {
    const { ada, page, bob, id } = await edit()
    bob.expectStatus(412)
    await button(page, 'Save note').click()
    await button(itemOf(page, 'Plan'), 'Edit').click()
    await write(page, 'Plan', 'Second text of Bob')
    const changeFirst = async (route: { continue: () => Promise<void> }) => {
      await ada.client.notes.update({ id, title: 'Plan', body: 'Text of Ada' })
      await route.continue()
    }
    await page.route('**/rpc/notes/update', changeFirst, { times: 1 })

    await button(page, 'Save note').click()
    await page.locator('.versions').getByText('Text of Ada').waitFor()
    await page.locator('.versions').getByText('Second text of Bob').waitFor()
    expect(await firstNoteOf(ada.client)).toEqual(['Plan', 'Text of Ada'])
    await button(page, 'Keep mine').click()
    await itemOf(ada.page, 'Plan').getByText('Second text of Bob').waitFor()
  })

  test('a new share elsewhere is no conflict', async () => {
    const { page, client, email, expectStatus } = await openNotes()
    expectStatus(412)
    await write(page, 'Plan', 'Milk')
    await button(page, 'Save note').click()
    await button(itemOf(page, 'Plan'), 'Edit').click()
    await write(page, 'Plan', 'Bread')
    const elsewhere = service.client({ cookie: await service.signIn(email) })
    const [note] = (await client.notes.list()).notes
    await elsewhere.notes.share({ id: note?.id ?? '', email: newEmail(), role: 'reader' })
    await itemOf(page, 'Plan').getByText('Shared with 1 person').waitFor()

    await button(page, 'Save note').click()
    await itemOf(page, 'Plan').getByText('Bread').waitFor()
    await button(itemOf(page, 'Plan'), 'Edit').waitFor()
    expect(await firstNoteOf(client)).toEqual(['Plan', 'Bread'])
  })

  test('the deletion of the note is announced, and the text can be saved as a new note', async () => {
    const { ada, bob, page } = await edit()
    await button(itemOf(ada.page, 'Plan'), 'Delete').click()
    await button(ada.page.getByRole('dialog'), 'Delete note').click()

    await page.getByRole('alert').getByText('This note was deleted').waitFor()
    expect(await page.getByRole('textbox', { name: 'Body' }).inputValue()).toBe('Text of Bob')
    await button(page, 'Save as a new note').click()
    await itemOf(page, 'Plan').getByText('Not shared').waitFor()
    expect(await firstNoteOf(bob.client)).toEqual(['Plan', 'Text of Bob'])
  })

  test('a change of the role to reader is announced, and the text is not lost', async () => {
    const { ada, bob, page, id } = await edit()
    await ada.client.notes.share({ id, email: bob.email, role: 'reader' })
    await page.getByRole('alert').getByText('You can no longer change this note.').waitFor()
    expect(await page.getByRole('textbox', { name: 'Body' }).inputValue()).toBe('Text of Bob')
    await button(page, 'Cancel').click()
    expect(await buttonsOf(itemOf(page, 'Plan'))).toEqual(['Leave note'])
  })

  test('the text of a new note is kept', async () => {
    const { page, client } = await openNotes()
    await client.notes.create({ title: 'Plan', body: 'Milk' })
    await write(page, 'Draft', 'Unfinished')
    await button(itemOf(page, 'Plan'), 'Edit').click()
    expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Plan')
    await button(page, 'Cancel').click()
    expect(await page.getByRole('textbox', { name: 'Body' }).inputValue()).toBe('Unfinished')
  })
})

describe('the shares of a note', () => {
  const emailsIn = (item: Locator) =>
    item
      .getByRole('list', { name: 'People with access' })
      .getByRole('listitem')
      .locator('bdi')
      .allTextContents()

  /** Opens the notes of Ada with the shares of the note `Plan`. */
  async function openShares(emails: string[]) {
    const ada = await openNotes()
    const { id } = await ada.client.notes.create({ title: 'Plan', body: '' })
    for (const email of emails) await ada.client.notes.share({ id, email, role: 'reader' })
    const item = itemsOf(ada.page).filter({ hasText: 'Plan' })
    await button(item, 'Share').click()
    return { ...ada, id, item }
  }

  test('are listed, the newest first, and can be removed by keyboard', async () => {
    const [typo, bob] = [newEmail(), newEmail()]
    const { page, client, id, item } = await openShares([typo, bob])
    await expect.poll(() => emailsIn(item)).toEqual([bob, typo])

    await item.getByRole('button', { name: 'Remove access', description: typo }).focus()
    await page.keyboard.press('Enter')

    await item.getByRole('status').getByText(`${typo} no longer has access.`).waitFor()
    await item.getByText('Shared with 1 person').waitFor()
    expect(await emailsIn(item)).toEqual([bob])
    expect((await client.notes.shares({ id })).shares.map(({ email }) => email)).toEqual([bob])
    const focused = page.locator(':focus')
    expect(await focused.textContent()).toBe('Remove access')
    await item.getByRole('button', { name: 'Remove access', description: bob }).waitFor()

    await page.keyboard.press('Enter')
    await item.getByText('Not shared').nth(1).waitFor()
    expect(await focused.textContent()).toBe('People with access')
  })

  test('show a new person and a change by another session', async () => {
    const { page, client, id, item } = await openShares([])
    await item.getByText('Not shared').nth(1).waitFor()
    const [bob, carol] = [newEmail(), newEmail()]

    await item.getByRole('textbox', { name: 'Share with' }).fill(bob)
    await button(item, 'Share note').click()
    await expect.poll(() => emailsIn(item)).toEqual([bob])
    await client.notes.share({ id, email: carol, role: 'editor' })

    await expect.poll(() => emailsIn(item)).toEqual([carol, bob])
    expect(await item.getByRole('combobox', { name: `Role of ${carol}` }).inputValue()).toBe('editor')
    expect(await findViolations(page)).toEqual([])
  })

  test('get another role', async () => {
    const bob = newEmail()
    const { client, id, item } = await openShares([bob])

    await item.getByRole('combobox', { name: `Role of ${bob}` }).selectOption('Editor')

    await item.getByRole('status').getByText(`The role of ${bob} has changed.`).waitFor()
    expect((await client.notes.shares({ id })).shares).toMatchObject([{ email: bob, role: 'editor' }])
  })

  test('show why a change was refused', async () => {
    const bob = newEmail()
    const { page, item, expectStatus } = await openShares([bob])
    expectStatus(503)
    await page.route('**/rpc/notes/unshare', (route) => route.fulfill({ status: 503, json: {} }))

    await item.getByRole('button', { name: 'Remove access' }).click()

    await item.getByRole('alert').waitFor()
    expect(await emailsIn(item)).toEqual([bob])
  })
})

describe.each([
  ['light', 1200],
  ['dark', 360],
  ['light', 320],
  ['dark', 320],
] as const)('in %s colors, %d pixels wide,', (colorScheme, width) => {
  test('the notes are accessible, and do not scroll horizontally', async () => {
    const viewport = { width, height: 800 }
    const { page, client, email } = await openApp(service, { path: '/notes', colorScheme, viewport })
    const ada = service.client({ cookie: await service.signIn(newEmail()) })
    const check = async () => {
      expect(await findViolations(page)).toEqual([])
      expect(await overflows(page)).toBe(false)
    }
    await page.getByText('You have no notes.').waitFor()
    await check()

    const { id } = await ada.notes.create({ title: 'x'.repeat(120), body: 'y'.repeat(300) })
    await ada.notes.share({ id, email, role: 'editor' })
    await client.notes.create({ title: 'Own', body: 'Text' })
    await itemOf(page, 'xxx').waitFor()
    await share(page, 'Own', newEmail(), 'Reader')
    await check()
    // The open note fills a narrow screen.
    await button(itemOf(page, 'Own'), 'Share').click()
    await itemOf(page, 'Own').getByRole('link', { name: 'Close' }).click()

    await button(itemOf(page, 'xxx'), 'Edit').click()
    await write(page, 'Mine', 'Mine')
    await ada.notes.update({ id, title: 'z'.repeat(120), body: 'z'.repeat(300) })
    await button(page, 'Keep mine').waitFor()
    await check()
    await ada.notes.delete({ id })
    await button(page, 'Save as a new note').waitFor()
    await check()
    await button(page, 'Cancel').click()

    await button(itemOf(page, 'Own'), 'Delete').click()
    await page.getByRole('dialog').waitFor()
    await check()
  })
})
