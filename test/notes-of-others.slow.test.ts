import postgres from 'postgres'
import { afterAll, describe, expect, test } from 'vitest'

import { pages } from '../contract/client.ts'
import { content, viewed } from './fixtures/notes.ts'
import { newEmail, startService } from './fixtures/service.ts'

const service = await startService()
const database = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined })
afterAll(() => database.end())

/** A new person shares notes with an address, the first note with the title `Oldest`. */
async function shareMany(email: string, count: number, title: string) {
  const stranger = await service.person()
  const { id } = await stranger.account.get()
  await database`
    with added as (
      insert into notes (uuid, user_id, title, body)
      select gen_random_uuid(), ${id}, case number when 1 then 'Oldest' else ${title} end, ''
      from generate_series(1, ${count}) as number order by number
      returning id
    )
    insert into note_shares (note_id, email, role) select id, ${email}, 'reader' from added`
  return stranger
}

describe('notes of other people', { timeout: 120_000 }, () => {
  test('are at most 1,000 in the list, so that the own notes stay reachable', async () => {
    const email = newEmail()
    const ada = await service.person(email)
    const own = await ada.notes.create(content)
    await shareMany(email, 1100, 'Advertisement')

    const first = await ada.notes.list()
    const all: typeof first.notes = []
    for await (const { notes } of pages(ada.notes.list, { limit: 400 })) all.push(...notes)

    expect(first.notes).toHaveLength(1000)
    expect(all.filter(({ mine }) => !mine)).toHaveLength(1000)
    expect(new Set(all.map(({ id }) => id)).size).toBe(1001)
    expect(all.at(-1)).toEqual(own)
    expect(all.some(({ title }) => title === 'Oldest')).toBe(false)
  })

  test('are at most 1,000 in a search, so that the own notes are found', async () => {
    const email = newEmail()
    const ada = await service.person(email)
    const own = await ada.notes.create({ title: 'My advert', body: '' })
    await shareMany(email, 1100, 'Advertisement')

    const { notes } = await ada.notes.list({ q: 'advert' })
    const oldest = await ada.notes.list({ q: 'oldest' })

    expect(notes).toHaveLength(1000)
    expect((await ada.notes.list({ q: 'my advert' })).notes).toEqual([own])
    expect(oldest.notes).toEqual([])
  })

  test('do not make an export too large: the newest 1,000 and the number of all', async () => {
    const email = newEmail()
    const ada = await service.person(email)
    const own = await ada.notes.create(content)
    await shareMany(email, 40_000, '🌻'.repeat(120))

    const { notes, notesOfOthers, notesOfOthersCount } = await ada.account.export()

    expect(notes).toMatchObject([{ id: own.id }])
    expect([notesOfOthers.length, notesOfOthersCount]).toEqual([1000, 40_000])
  })
})

describe('the limits of sharing', async () => {
  const limited = await startService({ RATE_LIMITS: 'on' })
  const tooMany = { code: 'TOO_MANY_REQUESTS', status: 429 }

  test('permit 30 shares of a sender with an address in an hour, and count each sender separately', async () => {
    const [ada, charles] = [await limited.person(), await limited.person()]
    const email = newEmail()
    const { id } = await ada.notes.create(content)
    const other = await charles.notes.create(content)

    for (let count = 1; count <= 30; count++)
      await ada.notes.share({ id, email, role: count % 2 ? 'reader' : 'editor' })

    for (const address of [email, email.toUpperCase()])
      await expect(ada.notes.share({ id, email: address, role: 'reader' })).rejects.toMatchObject(tooMany)
    expect(await ada.notes.share({ id, email: newEmail(), role: 'reader' })).toMatchObject({ sharedWith: 2 })
    expect(await charles.notes.share({ id: other.id, email, role: 'reader' })).toMatchObject({
      sharedWith: 1,
    })
    expect(await ada.notes.unshare({ id, email })).toMatchObject({ sharedWith: 1 })
  })

  test('permit 100 shares of a sender in an hour', async () => {
    const [ada, charles] = [await limited.person(), await limited.person()]
    const { id } = await ada.notes.create(content)
    const other = await charles.notes.create(content)
    const share = () => ada.notes.share({ id, email: newEmail(), role: 'reader' })

    for (let count = 1; count <= 100; count++) await share()

    await expect(share()).rejects.toMatchObject(tooMany)
    expect(await viewed(ada, id)).toMatchObject({ sharedWith: 100 })
    expect(await charles.notes.share({ id: other.id, email: newEmail(), role: 'reader' })).toMatchObject({
      sharedWith: 1,
    })
  })
})
