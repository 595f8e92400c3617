import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { type Client, pages } from '../contract/client.ts'
import { taskRows, tasks } from '../db/tasks.ts'
import { describeTransports, newEmail, startService } from './fixtures/service.ts'

const service = await startService()

interface Texts {
  title: string
  text: string
}

/** A list that can be searched, and how to add an item with two texts. */
interface Searched {
  add: (client: Client, texts: Texts) => Promise<unknown>
  search: (client: Client, q: string) => Promise<string[]>
}

const lists: Record<string, Searched> = {
  'tasks.list': {
    add: (client, { title, text }) => client.tasks.create({ taskTitle: title, taskDesc: text }),
    search: async (client, q) => (await client.tasks.list({ q })).tasks.map(({ title }) => title),
  },
  'notes.list': {
    add: (client, { title, text }) => client.notes.create({ title, body: text }),
    search: async (client, q) => (await client.notes.list({ q })).notes.map(({ title }) => title),
  },
}

describe.each(Object.entries(lists))('%s', (_, { add, search }) => {
  describeTransports(service, ({ person, stranger }) => {
    test('finds a part of either text, in the order of the list, without a difference of letter case', async () => {
      const ada = await person()
      await add(ada, { title: 'Buy milk', text: 'Two litres' })
      await add(ada, { title: 'Call Zoë', text: 'About the ÖLPREIS' })
      await add(ada, { title: 'MILKSHAKE', text: '' })

      expect(await search(ada, 'milk')).toEqual(['MILKSHAKE', 'Buy milk'])
      expect(await search(ada, 'LITRES')).toEqual(['Buy milk'])
      expect(await search(ada, 'zoË')).toEqual(['Call Zoë'])
      expect(await search(ada, 'ölpreis')).toEqual(['Call Zoë'])
      expect(await search(ada, '')).toHaveLength(3)
      expect(await search(ada, 'bread')).toEqual([])
    })

    test('takes every character as itself', async () => {
      const ada = await person()
      const titles = ['100 %', 'a_b', String.raw`c\d`, 'plain', String.raw`\%`]
      for (const title of titles) await add(ada, { title, text: 'x' })

      expect(await search(ada, '%')).toEqual([String.raw`\%`, '100 %'])
      expect(await search(ada, '_')).toEqual(['a_b'])
      expect(await search(ada, '\\')).toEqual([String.raw`\%`, String.raw`c\d`])
      expect(await search(ada, String.raw`\%`)).toEqual([String.raw`\%`])
      expect(await search(ada, '👍')).toEqual([])
    })

    test('accepts 100 characters, and refuses 101 characters and characters that cannot be stored', async () => {
      const ada = await person()
      await add(ada, { title: `${'👍'.repeat(100)}!`, text: '' })

      expect(await search(ada, '👍'.repeat(100))).toHaveLength(1)
      for (const q of ['👍'.repeat(101), 'a\0b'])
        await expect(search(ada, q)).rejects.toMatchObject({ code: 'BAD_REQUEST', status: 400 })
    })

    test('refuses a stranger, and finds nothing of other people', async () => {
      const [ada, bob] = [await person(), await person()]
      await add(ada, { title: 'Secret', text: 'secret' })

      expect(await search(bob, 'secret')).toEqual([])
      await expect(search(stranger, 'secret')).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    })
  })
})

test('finds exactly the tasks that contain the text', async () => {
  const { db } = service.services
  const ada = await service.person()
  const { id: userId } = await ada.account.get()
  const characters = fc.constantFrom('a', 'B', 'b', '%', '_', '\\', ' ', 'ä', 'Ä', '👍', '\n')
  const text = (minLength: number, maxLength: number) => fc.string({ unit: characters, minLength, maxLength })

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ title: text(1, 6), description: fc.option(text(0, 6)) }), {
        minLength: 1,
        maxLength: 12,
      }),
      text(1, 3),
      async (rows, q) => {
        await ada.tasks.reset()
        await db.insert(tasks).values(rows.map((row) => ({ userId, ...row })))

        const found = await ada.tasks.list({ q })

        const contains = (value: string | null) => value?.toLowerCase().includes(q.toLowerCase()) ?? false
        const expected = rows.filter(({ title, description }) => contains(title) || contains(description))
        const textsOf = ({ title, description }: (typeof rows)[number]) =>
          JSON.stringify([title, description])
        expect(found.tasks.map(textsOf).sort()).toEqual(expected.map(textsOf).sort())
        expect(found.taskCount).toBe(expected.length)
      },
    ),
    { numRuns: 50 },
  )
})

describeTransports(service, ({ person }) => {
  test('a search of tasks has pages, counts all its tasks, and can be combined with a status', async () => {
    const ada = await person()
    for (let number = 1; number <= 5; number++) {
      const { id } = await ada.tasks.create({ taskTitle: `Milk ${number}` })
      await ada.tasks.create({ taskTitle: `Bread ${number}` })
      if (number % 2) await ada.tasks.update({ id, status: 'completed' })
    }

    const found = []
    for await (const page of pages(ada.tasks.list, { q: 'milk', limit: 2 })) found.push(page)

    expect(found.map(({ tasks }) => tasks.map(({ title }) => title))).toEqual([
      ['Milk 5', 'Milk 4'],
      ['Milk 3', 'Milk 2'],
      ['Milk 1'],
    ])
    expect(found.map(({ taskCount }) => taskCount)).toEqual([5, 5, 5])
    const completed = await ada.tasks.list({ q: 'milk', status: 'completed', limit: 1 })
    expect(completed).toMatchObject({ tasks: [{ title: 'Milk 5' }], taskCount: 3 })
  })

  test('a search of notes contains the notes that other people share with the person', async () => {
    const email = newEmail()
    const [ada, bob] = [await person(), await person(email)]
    const { id } = await ada.notes.create({ title: 'Plan', body: 'Buy milk' })
    const { id: other } = await ada.notes.create({ title: 'Other', body: '' })
    for (const each of [id, other]) await ada.notes.share({ id: each, email, role: 'reader' })
    await ada.notes.create({ title: 'Not shared', body: 'milk' })
    await bob.notes.create({ title: 'Milk', body: '' })

    const { notes } = await bob.notes.list({ q: 'milk' })
    expect(notes.map(({ title, mine }) => [title, mine])).toEqual([
      ['Milk', true],
      ['Plan', false],
    ])
  })
})

test('a search is a live topic', async () => {
  const ada = await service.person()
  const stop = new AbortController()
  const updates = await ada.live.watch({ topics: ['tasks'], tasks: { q: 'milk' } }, { signal: stop.signal })

  const states = []
  for await (const update of updates) {
    if (update.topic !== 'tasks') continue
    states.push(update.state.tasks.map(({ title }) => title))
    if (states.length === 2) break
    await ada.tasks.create({ taskTitle: 'Bread' })
    await ada.tasks.create({ taskTitle: 'Milk' })
  }
  stop.abort()

  expect(states).toEqual([[], ['Milk']])
})

test('one person’s searches of many tasks do not delay another person', async () => {
  const { db } = service.services
  const ada = await service.person()
  const { id: userId } = await ada.account.get()
  const rows = Array.from({ length: 5000 }, (_, index) => ({ userId, title: `Task ${index}` }))
  await db.insert(tasks).values(rows)

  const searches = Array.from({ length: 20 }, () => ada.tasks.list({ q: 'task 4999', limit: 1 }))
  const bob = await service.person()
  expect(await bob.tasks.list()).toEqual({ tasks: [], taskCount: 0 })
  for (const found of await Promise.all(searches)) expect(found.taskCount).toBe(1)
  expect(
    await taskRows.list(db, { id: userId, email: '' }, { limit: 2, q: '%', maxMatches: 2 }),
  ).toMatchObject([{ isListed: false }])
})
