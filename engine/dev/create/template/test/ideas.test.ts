import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, describe, expect, test } from 'vitest'

import { app } from '../src/app.ts'

const service = await createTallystick(app)

afterAll(() => service.close())

const idea = { title: 'An example' }

describe('ideas.list', () => {
  test('returns the ideas of the caller alone, newest first', async () => {
    const [ada, bob] = [await service.person(), await service.person()]
    const first = await ada.ideas.create(idea)
    const second = await ada.ideas.create({ ...idea, title: 'Another' })
    await bob.ideas.create(idea)

    expect(await ada.ideas.list()).toEqual({ ideas: [second, first] })
  })

  test('returns one page', async () => {
    const ada = await service.person()
    await ada.ideas.create(idea)
    const second = await ada.ideas.create(idea)

    expect(await ada.ideas.list({ limit: 1 })).toEqual({ ideas: [second] })
  })

  test('finds the ideas with a text', async () => {
    const ada = await service.person()
    await ada.ideas.create(idea)
    const other = await ada.ideas.create({ title: 'Another' })

    expect(await ada.ideas.list({ q: 'other' })).toEqual({ ideas: [other] })
  })
})

describe('ideas.create', () => {
  test('rejects an empty title', async () => {
    const ada = await service.person()

    const created = ada.ideas.create({ title: '' })

    await expect(created).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('sends the new list to people who watch the topic', async () => {
    const ada = await service.person()
    const updates = await ada.live.watch({ topics: ['ideas'] })
    const before = await updates.next()

    const created = await ada.ideas.create(idea)

    const after = await updates.next()
    await updates.return()
    expect(before.value).toEqual({ topic: 'ideas', state: { ideas: [] } })
    expect(after.value).toEqual({ topic: 'ideas', state: { ideas: [created] } })
  })
})

describe('ideas.update', () => {
  test('changes only ideas of the caller', async () => {
    const [ada, bob] = [await service.person(), await service.person()]
    const { id } = await ada.ideas.create(idea)

    const changed = await ada.ideas.update({ id, title: 'Another' })

    expect(changed).toMatchObject({ id, title: 'Another' })
    expect(await ada.ideas.get({ id })).toEqual(changed)
    await expect(bob.ideas.update({ id, title: 'No' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('ideas.delete', () => {
  test('deletes only ideas of the caller', async () => {
    const [ada, bob] = [await service.person(), await service.person()]
    const { id } = await ada.ideas.create(idea)

    await expect(bob.ideas.delete({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await ada.ideas.delete({ id })).toEqual({ success: true })
    expect(await ada.ideas.list()).toEqual({ ideas: [] })
  })
})

describe('account.export', () => {
  test('contains the ideas', async () => {
    const ada = await service.person()
    const created = await ada.ideas.create(idea)

    expect(await ada.account.export()).toMatchObject({ ideas: [created] })
  })
})
