import { createTallystick } from 'tallystick/testing'
import { afterAll, describe, expect, test } from 'vitest'

import { app } from '../src/app.ts'

const service = await createTallystick(app)

afterAll(() => service.close())

const bookmark = { url: 'https://example.com/', title: 'An example' }

describe('bookmarks.list', () => {
  test('returns the bookmarks of the caller alone, newest first', async () => {
    const [ada, bob] = [await service.person(), await service.person()]
    const first = await ada.bookmarks.create(bookmark)
    const second = await ada.bookmarks.create({ ...bookmark, title: 'Another' })
    await bob.bookmarks.create(bookmark)

    expect(await ada.bookmarks.list()).toEqual({ bookmarks: [second, first] })
  })

  test('returns one page', async () => {
    const ada = await service.person()
    await ada.bookmarks.create(bookmark)
    const second = await ada.bookmarks.create(bookmark)

    expect(await ada.bookmarks.list({ limit: 1 })).toEqual({ bookmarks: [second] })
  })
})

describe('bookmarks.create', () => {
  test('rejects text that is not a URL', async () => {
    const ada = await service.person()

    const created = ada.bookmarks.create({ ...bookmark, url: 'example' })

    await expect(created).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('sends the new list to people who watch the topic', async () => {
    const ada = await service.person()
    const updates = await ada.live.watch({ topics: ['bookmarks'] })
    const before = await updates.next()

    const created = await ada.bookmarks.create(bookmark)

    const after = await updates.next()
    await updates.return()
    expect(before.value).toEqual({ topic: 'bookmarks', state: { bookmarks: [] } })
    expect(after.value).toEqual({ topic: 'bookmarks', state: { bookmarks: [created] } })
  })
})

describe('bookmarks.delete', () => {
  test('deletes no bookmark of another person', async () => {
    const [ada, bob] = [await service.person(), await service.person()]
    const { id } = await ada.bookmarks.create(bookmark)

    await expect(bob.bookmarks.delete({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await ada.bookmarks.delete({ id })).toEqual({ success: true })
    expect(await ada.bookmarks.list()).toEqual({ bookmarks: [] })
  })
})

describe('account.export', () => {
  test('contains the bookmarks', async () => {
    const ada = await service.person()
    const created = await ada.bookmarks.create(bookmark)

    expect(await ada.account.export()).toMatchObject({ bookmarks: [created] })
  })
})
