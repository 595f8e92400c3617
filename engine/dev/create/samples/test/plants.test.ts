import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, describe, expect, test } from 'vitest'

import { app } from '../src/app.ts'
// #shared
import { cases, share } from './cases/plants.ts'
// #end
// #owned import { cases } from './cases/plants.ts'

const service = await createTallystick(app)

afterAll(() => service.close())

/** Two plants of Ada. Bob is a stranger. */
async function prepare() {
  const people = {
    ada: await service.person(),
    bob: await service.person(),
    administrator: await service.person(),
  }
  const fixture = await cases.prepare(people, 'An example')
  const gardenId = fixture.garden.id
  const [, first] = (await people.ada.plants.list({ gardenId })).plants
  return { ...people, fixture, gardenId, plant: fixture.plant, first }
}

describe('plants.list', () => {
  test('returns the plants of one garden, newest first', async () => {
    const { ada, bob, gardenId, plant, first } = await prepare()

    const second = await ada.plants.create({ gardenId, title: 'Another' })

    expect(await ada.plants.list({ gardenId })).toEqual({ plants: [second, plant, first] })
    expect(await ada.plants.list({ gardenId, limit: 1 })).toMatchObject({ plants: [second] })
    await expect(bob.plants.list({ gardenId })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('plants.create', () => {
  test('rejects an empty title, and a garden of another person', async () => {
    const { ada, bob, gardenId } = await prepare()

    await expect(ada.plants.create({ gardenId, title: '' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    await expect(bob.plants.create({ gardenId, title: 'No' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('sends the new list to people who watch the garden', async () => {
    const { ada, gardenId, plant, first } = await prepare()
    const updates = await ada.live.watch({ topics: ['plants'], plants: { gardenId } })
    const before = await updates.next()

    const created = await ada.plants.create({ gardenId, title: 'Another' })

    const after = await updates.next()
    await updates.return()
    expect(before.value).toMatchObject({ of: { gardenId }, state: { plants: [plant, first] } })
    expect(after.value).toMatchObject({ of: { gardenId }, state: { plants: [created, plant, first] } })
  })
})

describe('plants.update and plants.delete', () => {
  test('change plants of the person alone', async () => {
    const { ada, bob, gardenId, plant, first } = await prepare()
    const { id } = plant

    await expect(bob.plants.update({ id, title: 'No' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(bob.plants.delete({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await ada.plants.update({ id, title: 'Changed' })).toEqual({ ...plant, title: 'Changed' })
    expect(await ada.plants.get({ id })).toMatchObject({ title: 'Changed' })
    expect(await ada.plants.delete({ id })).toEqual({ success: true })
    expect(await ada.plants.list({ gardenId })).toEqual({ plants: [first] })
  })
})

// #shared
describe('the members of a garden', () => {
  test('change plants as editors, and only see plants as viewers', async () => {
    const { gardenId, plant, ...scene } = await prepare()
    const { ada, bob } = scene
    const { id } = plant

    await share('editor').begin(scene)
    expect(await bob.plants.update({ id, title: 'Changed' })).toMatchObject({ can: { EDIT_PLANT: true } })
    await share('viewer').begin(scene)
    expect(await bob.plants.get({ id })).toMatchObject({ can: { EDIT_PLANT: false } })
    await expect(bob.plants.update({ id, title: 'No' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(bob.plants.delete({ id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(bob.plants.create({ gardenId, title: 'No' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await share('viewer').end(scene)
    await expect(bob.plants.get({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await ada.plants.get({ id })).toMatchObject({ title: 'Changed' })
  })
})

// #end
describe('account.export', () => {
  test('contains the plants of own gardens', async () => {
    const { ada, bob, plant, first } = await prepare()

    expect(await ada.account.export()).toMatchObject({ plants: [plant, first] })
    expect(await bob.account.export()).toMatchObject({ plants: [] })
  })
})
