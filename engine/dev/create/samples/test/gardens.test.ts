import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, describe, expect, test } from 'vitest'

import { app } from '../src/app.ts'

const service = await createTallystick(app)

afterAll(() => service.close())

const example = { title: 'An example' }

/** A garden of Ada, which Bob edits and Vera sees. Eve is a stranger. */
async function prepare() {
  const [ada, bob, vera, eve] = [
    await service.person(),
    await service.person(),
    await service.person(),
    await service.person(),
  ]
  const { id } = await ada.gardens.create(example)
  const [{ email }, { email: viewer }] = [await bob.account.get(), await vera.account.get()]
  await ada.gardens.invite({ id, email: email.toUpperCase(), role: 'editor' })
  await ada.gardens.invite({ id, email: viewer, role: 'viewer' })
  return { ada, bob, vera, eve, id, email, viewer }
}

const everything = { EDIT_GARDEN: true, SHARE_GARDEN: true, DELETE_GARDEN: true }
const nothing = { EDIT_GARDEN: false, SHARE_GARDEN: false, DELETE_GARDEN: false }

describe('gardens.list', () => {
  test('returns own and shared gardens, with what each person may do', async () => {
    const { ada, bob, vera, eve, id } = await prepare()

    expect(await ada.gardens.list()).toMatchObject({ gardens: [{ id, mine: true, can: everything }] })
    expect(await bob.gardens.list()).toMatchObject({
      gardens: [{ id, mine: false, can: { ...nothing, EDIT_GARDEN: true } }],
    })
    expect(await vera.gardens.list()).toMatchObject({ gardens: [{ id, mine: false, can: nothing }] })
    expect(await eve.gardens.list()).toEqual({ gardens: [] })
  })

  test('finds the gardens with a text', async () => {
    const { ada, id } = await prepare()
    await ada.gardens.create({ title: 'Another' })

    expect(await ada.gardens.list({ q: 'exam' })).toMatchObject({ gardens: [{ id }] })
  })
})

describe('gardens.create', () => {
  test('rejects an empty title', async () => {
    const ada = await service.person()

    await expect(ada.gardens.create({ title: '' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })
})

describe('gardens.update', () => {
  test('is permitted to the owner and to editors', async () => {
    const { ada, bob, vera, eve, id } = await prepare()

    expect(await bob.gardens.update({ id, title: 'Another' })).toMatchObject({ title: 'Another' })
    expect(await ada.gardens.get({ id })).toMatchObject({ title: 'Another' })
    await expect(vera.gardens.update({ id, title: 'No' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(eve.gardens.update({ id, title: 'No' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('gardens.delete', () => {
  test('is permitted to the owner alone', async () => {
    const { ada, bob, eve, id } = await prepare()

    await expect(bob.gardens.delete({ id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(eve.gardens.delete({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await ada.gardens.delete({ id })).toEqual({ success: true })
    expect(await bob.gardens.list()).toEqual({ gardens: [] })
  })
})

describe('the members of a garden', () => {
  test('are changed by the owner', async () => {
    const { ada, bob, id, email, viewer } = await prepare()

    expect(await ada.gardens.members({ id })).toMatchObject({
      members: [
        { email: viewer, role: 'viewer' },
        { email, role: 'editor' },
      ],
    })
    await ada.gardens.invite({ id, email, role: 'viewer' })
    await expect(bob.gardens.update({ id, title: 'No' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(bob.gardens.invite({ id, email, role: 'editor' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await ada.gardens.exclude({ id, email })
    await expect(bob.gardens.get({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('can leave', async () => {
    const { ada, vera, id, email } = await prepare()

    expect(await vera.gardens.leave({ id })).toEqual({ success: true })
    expect(await vera.gardens.list()).toEqual({ gardens: [] })
    expect(await ada.gardens.members({ id })).toMatchObject({ members: [{ email }] })
  })

  test('receive the new list when the owner invites a person who watches the topic', async () => {
    const [ada, bob] = [await service.person(), await service.person()]
    const { id } = await ada.gardens.create(example)
    const updates = await bob.live.watch({ topics: ['gardens'] })
    const before = await updates.next()

    await ada.gardens.invite({ id, email: (await bob.account.get()).email, role: 'viewer' })

    const after = await updates.next()
    await updates.return()
    expect(before.value).toMatchObject({ topic: 'gardens', state: { gardens: [] } })
    expect(after.value).toMatchObject({ topic: 'gardens', state: { gardens: [{ id }] } })
  })
})

describe('account.export', () => {
  test('contains own gardens, and not those of other people', async () => {
    const { ada, bob, id } = await prepare()

    expect(await ada.account.export()).toMatchObject({ gardens: [{ id }] })
    expect(await bob.account.export()).toMatchObject({ gardens: [] })
  })
})
