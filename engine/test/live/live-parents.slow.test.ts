import { getEventMeta } from '@orpc/client'
import { eq, sql } from 'drizzle-orm'
import { readFile } from 'node:fs/promises'
import type { LiveUpdateOf } from 'tallystick-contract'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { sessions } from '../../db/accounts/sessions.ts'
import {
  createDatabase,
  createTallystick,
  describeTransports,
  newEmail,
  startService,
} from '../fixtures/help-desk.ts'
import { openEvents } from '../fixtures/event-source.ts'
import { createFetch, sessionTokenIn } from '../fixtures/http.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { CLOSED } from '../help-desk/app.ts'
import { backlogTopic, type Client, type contract } from '../help-desk/contract.ts'
import { members, projects, tickets } from '../help-desk/db.ts'
import { watchBacklog } from '../help-desk/watch-backlog.ts'

const database = await createDatabase()
afterAll(database.drop)
const shared = { DATABASE_URL: database.url, AUTH_SECRET: 'x'.repeat(40) }
const service = await startService(shared)
/** Another instance. Its announcements arrive by PostgreSQL. */
const other = await createTallystick(shared)
afterAll(() => other.close())
const { db, live } = service.services
const call = createFetch(service)

type Update = LiveUpdateOf<typeof contract>
type Input = Parameters<Client['live']['watch']>[0]
type Options = Parameters<Client['live']['watch']>[1]

/** Watches topics, and collects the updates until the test ends. */
async function watch(client: Client, input: Input, options?: Options) {
  const updates: Update[] = []
  const ending: { error?: unknown; isDone?: true } = {}
  const events = await client.live.watch(input, options)
  const read = async () => {
    for await (const update of events) updates.push(update)
  }
  const reading = read()
    .catch((error: unknown) => (ending.error = error))
    .finally(() => (ending.isDone = true))
  const stop = async () => {
    await events.return()
    await reading
  }
  onTestFinished(stop)
  const statesOf = (projectId: number) =>
    updates.flatMap((update) =>
      update.topic === 'backlog' && update.of.projectId === projectId ? [update.state] : [],
    )
  return {
    updates,
    statesOf,
    stop,
    lastEventId: () => getEventMeta(updates.at(-1))?.id,
    /** Waits until the last state of a project has these titles, or is null. */
    waitFor: (projectId: number, titles: string[] | null) =>
      vi.waitFor(() => {
        expect(statesOf(projectId).at(-1)).toEqual(titles && { titles, total: titles.length })
      }, PATIENCE),
    end: async () => (await vi.waitUntil(() => ending.isDone && ending, PATIENCE)).error,
  }
}

/** Creates two projects of an owner, with a ticket each, and invites an address to both. */
async function createProjects(email = newEmail()) {
  const owner = await service.person()
  const create = async (name: string) => {
    const { id } = await owner.projects.create({ name })
    await owner.tickets.create({ projectId: id, title: name })
    await owner.projects.invite({ id, email })
    return id
  }
  const [one, two] = [await create('One'), await create('Two')]
  return { owner, email, one, two, both: [{ projectId: one }, { projectId: two }] }
}

const notFound = { code: 'NOT_FOUND', status: 404, message: 'There is no such project', defined: true }

describeTransports(service, ({ person }) => {
  describe('live.watch', () => {
    test('sends the states of two projects, and the new state of the project that changes', async () => {
      const { owner, email, one, two, both } = await createProjects()
      const watched = await watch(await person(email), { topics: ['backlog'], backlog: both })
      await watched.waitFor(one, ['One'])
      await watched.waitFor(two, ['Two'])

      await owner.tickets.create({ projectId: two, title: 'New' })

      await watched.waitFor(two, ['New', 'Two'])
      expect(watched.updates).toEqual([
        { topic: 'backlog', of: { projectId: one }, state: { titles: ['One'], total: 1 } },
        { topic: 'backlog', of: { projectId: two }, state: { titles: ['Two'], total: 1 } },
        { topic: 'backlog', of: { projectId: two }, state: { titles: ['New', 'Two'], total: 2 } },
      ])
    })

    test('sends each project by its own filter, beside topics without a parent', async () => {
      const { owner, email, one, two } = await createProjects()
      const watched = await watch(await person(email), {
        topics: ['tickets', 'backlog'],
        backlog: [{ projectId: one, search: 'Bug' }, { projectId: two }],
      })
      await watched.waitFor(one, [])
      await watched.waitFor(two, ['Two'])

      await owner.tickets.create({ projectId: one, title: 'Bug' })

      await watched.waitFor(one, ['Bug'])
      expect(watched.updates.find(({ topic }) => topic === 'tickets')).toEqual({
        topic: 'tickets',
        state: { titles: ['Two', 'One'] },
      })
    })

    test('accepts one input instead of a list', async () => {
      const { email, one } = await createProjects()

      const watched = await watch(await person(email), { topics: ['backlog'], backlog: { projectId: one } })

      await watched.waitFor(one, ['One'])
    })

    test('refuses a person without access to one of the projects with the error of the reader', async () => {
      const { both } = await createProjects()

      const opening = (await person()).live.watch({ topics: ['backlog'], backlog: both })

      await expect(opening).rejects.toMatchObject(notFound)
    })

    test('refuses a topic without its project, two inputs of one project, and too many projects', async () => {
      const { email, one } = await createProjects()
      const client = await person(email)
      const messageOf = async (backlog: Input['backlog']) => {
        const error: unknown = await client.live
          .watch({ topics: ['backlog'], backlog })
          .catch((e: unknown) => e)
        return (error as { data?: { issues: unknown } }).data?.issues
      }

      expect(await messageOf(undefined)).toEqual([
        { path: 'backlog', message: 'Must name the projectId whose state is watched' },
      ])
      expect(await messageOf([{ projectId: one }, { projectId: one, search: 'x' }])).toEqual([
        { path: 'backlog', message: 'Must have different values of projectId' },
      ])
      expect(await messageOf(Array.from({ length: 33 }, (_, projectId) => ({ projectId })))).toEqual([
        { path: 'backlog', message: expect.stringContaining('<=32') as string },
      ])
    })

    test('sends null after a membership has ended, and continues with the other project', async () => {
      const { owner, email, one, two, both } = await createProjects()
      const watched = await watch(await person(email), { topics: ['backlog'], backlog: both })
      await watched.waitFor(one, ['One'])
      await watched.waitFor(two, ['Two'])

      await owner.projects.exclude({ id: one, email })
      await watched.waitFor(one, null)
      await owner.tickets.create({ projectId: one, title: 'Secret' })
      await owner.tickets.create({ projectId: two, title: 'New' })
      await watched.waitFor(two, ['New', 'Two'])

      expect(watched.statesOf(one)).toEqual([{ titles: ['One'], total: 1 }, null])
    })

    test('sends the state again after a new membership', async () => {
      const { owner, email, one, both } = await createProjects()
      const watched = await watch(await person(email), { topics: ['backlog'], backlog: both })
      await watched.waitFor(one, ['One'])
      await owner.projects.exclude({ id: one, email })
      await watched.waitFor(one, null)

      await owner.projects.invite({ id: one, email })
      await watched.waitFor(one, ['One'])
      await owner.tickets.create({ projectId: one, title: 'New' })

      await watched.waitFor(one, ['New', 'One'])
    })

    test('continues after the last event: only states that have changed are sent', async () => {
      const { owner, email, one, two, both } = await createProjects()
      const client = await person(email)
      const first = await watch(client, { topics: ['backlog'], backlog: both })
      await first.waitFor(one, ['One'])
      await first.waitFor(two, ['Two'])
      const lastEventId = first.lastEventId()
      await first.stop()
      expect(lastEventId).toMatch(new RegExp(`^backlog/${one}=[\\w-]{12},backlog/${two}=[\\w-]{12}$`))

      await owner.tickets.create({ projectId: two, title: 'New' })
      const next = await watch(client, { topics: ['backlog'], backlog: both }, { lastEventId })
      await next.waitFor(two, ['New', 'Two'])
      await owner.tickets.create({ projectId: two, title: 'Last' })
      await next.waitFor(two, ['Last', 'New', 'Two'])

      expect(next.statesOf(one)).toEqual([])
    })

    test('continues with null, instead of an error, if the membership has ended without a connection', async () => {
      const { owner, email, one, two, both } = await createProjects()
      const client = await person(email)
      const first = await watch(client, { topics: ['backlog'], backlog: both })
      await first.waitFor(two, ['Two'])
      const lastEventId = first.lastEventId()
      await first.stop()

      await owner.projects.exclude({ id: one, email })
      const next = await watch(client, { topics: ['backlog'], backlog: both }, { lastEventId })
      await next.waitFor(one, null)
      await owner.tickets.create({ projectId: two, title: 'New' })

      await next.waitFor(two, ['New', 'Two'])
    })
  })
})

test('an announcement of one parent reads only the states of this parent, on every instance', async () => {
  const { owner, email, one, two, both } = await createProjects()
  const watched = [
    await watch(await service.person(email), { topics: ['backlog'], backlog: both }),
    await watch(await other.person(email), { topics: ['backlog'], backlog: both }),
  ]
  for (const each of watched) {
    await each.waitFor(one, ['One'])
    await each.waitFor(two, ['Two'])
  }
  // Not announced: a state of the first project that is read again would show the ticket.
  const { id: userId } = await owner.account.get()
  await db.insert(tickets).values([
    { projectId: one, userId, title: 'Unannounced' },
    { projectId: two, userId, title: 'Announced' },
  ])

  live.announce(backlogTopic, { parent: two })
  for (const each of watched) await each.waitFor(two, ['Announced', 'Two'])
  // One account reads one state at a time: a read of the first project would precede the next read of the second.
  await db.insert(tickets).values({ projectId: two, userId, title: 'Last' })
  live.announce(backlogTopic, { parent: two })
  for (const each of watched) await each.waitFor(two, ['Last', 'Announced', 'Two'])

  for (const each of watched) expect(each.statesOf(one)).toEqual([{ titles: ['One'], total: 1 }])
})

test('a change that is announced before the end of the membership delivers nothing of the parent', async () => {
  const { email, one, two, both } = await createProjects()
  const watched = await watch(await service.person(email), { topics: ['backlog'], backlog: both })
  await watched.waitFor(one, ['One'])
  const { id: userId } = await (await service.person()).account.get()

  await db.transaction(async (tx) => {
    await tx.delete(members).where(eq(members.projectId, one))
    await tx.insert(tickets).values({ projectId: one, userId, title: 'Secret' })
  })
  live.announce(backlogTopic, { parent: one })
  await watched.waitFor(one, null)
  // After several changes, a state is sent again although it is equal.
  for (let change = 0; change < 3; change++) live.announce(backlogTopic, { parent: one })
  const titles = ['Two']
  // The time between two reads of a state is limited: the first project would be read before the third read of the second.
  for (const title of ['New', 'Newer', 'Newest']) {
    await db.insert(tickets).values({ projectId: two, userId, title })
    live.announce(backlogTopic, { parent: two })
    titles.unshift(title)
    await watched.waitFor(two, titles)
  }

  expect(watched.statesOf(one)).toEqual([{ titles: ['One'], total: 1 }, null])
})

test('a change of a membership verifies the session before it delivers a state', async () => {
  const { owner, email, one } = await createProjects()
  const cookie = await service.signIn(email)
  const watched = await watch(service.client({ cookie }), {
    topics: ['backlog'],
    backlog: { projectId: one },
  })
  await watched.waitFor(one, ['One'])
  await owner.projects.exclude({ id: one, email })
  await watched.waitFor(one, null)

  // Without the trigger, the end of the session is not announced.
  await db.execute(sql`alter table sessions disable trigger user`)
  await db.delete(sessions).where(eq(sessions.token, sessionTokenIn(cookie)))
  await db.execute(sql`alter table sessions enable trigger user`)
  await owner.projects.invite({ id: one, email })

  expect(await watched.end()).toMatchObject({ code: 'UNAUTHORIZED' })
  expect(watched.statesOf(one)).toEqual([{ titles: ['One'], total: 1 }, null])
})

test('a parent that the reader forbids becomes null, and is forbidden for new streams', async () => {
  const { email, one, both } = await createProjects()
  const client = await service.person(email)
  const watched = await watch(client, { topics: ['backlog'], backlog: both })
  await watched.waitFor(one, ['One'])

  await db.update(projects).set({ name: CLOSED }).where(eq(projects.id, one))
  live.announce(backlogTopic, { parent: one })
  await watched.waitFor(one, null)

  await expect(client.live.watch({ topics: ['backlog'], backlog: both })).rejects.toMatchObject({
    code: 'FORBIDDEN',
    status: 403,
    message: 'The project is closed',
    defined: true,
  })
})

test('a person has at most 32 different states of a topic of parents', async () => {
  const owner = await service.person()
  const ids: number[] = []
  for (const name of ['One', 'Two', 'Three', 'Four']) ids.push((await owner.projects.create({ name })).id)
  const open = (search: string) =>
    watch(owner, { topics: ['backlog'], backlog: ids.map((projectId) => ({ projectId, search })) })
  for (let index = 0; index < 8; index++) await open(String(index))

  await expect(open('8')).rejects.toMatchObject({
    code: 'TOO_MANY_REQUESTS',
    message: 'Too many different lists in open streams; close one first',
  })
  await expect(open('7')).resolves.toBeDefined()
})

test('a query over REST names one project or several', async () => {
  const { email, one, two } = await createProjects()
  const cookie = await service.signIn(email)
  const open = (query: string) => openEvents(service.origin, `/api/live?topics=backlog&${query}`, { cookie })
  const stateOf = (projectId: number, title: string) =>
    JSON.stringify({ topic: 'backlog', of: { projectId }, state: { titles: [title], total: 1 } })
  const dataOf = ({ events }: Awaited<ReturnType<typeof open>>) => events.flatMap(({ data }) => data ?? [])

  const single = await open(`backlog[projectId]=${one}`)
  const several = await open(
    `backlog[0][projectId]=${one}&backlog[1][projectId]=${two}&backlog[1][search]=Two`,
  )

  await vi.waitFor(() => {
    expect(dataOf(single)).toEqual([stateOf(one, 'One')])
    expect(dataOf(several)).toEqual([stateOf(one, 'One'), stateOf(two, 'Two')])
  }, PATIENCE)
  expect(
    await call('GET', `/api/live?topics=backlog&backlog[projectId]=x`, undefined, { cookie }),
  ).toMatchObject({
    status: 400,
    body: { data: { issues: [{ path: 'backlog', message: 'projectId: Must be a whole number' }] } },
  })
})

test('a Datastar page shows several projects, and the end of a membership', async () => {
  const { owner, email, one, two } = await createProjects()
  const cookie = await service.signIn(email)
  const page = await openEvents(
    service.origin,
    `/api/live?topics=backlog&backlog[0][projectId]=${one}&backlog[1][projectId]=${two}`,
    { cookie, 'datastar-request': 'true' },
  )
  const patches = () => page.events.map((event) => JSON.stringify(event)).join('\n')
  await vi.waitFor(() => {
    expect(patches()).toContain(`Project ${one}: 1`)
    expect(patches()).toContain(`Project ${two}: 1`)
  }, PATIENCE)

  await owner.projects.exclude({ id: one, email })

  await vi.waitFor(() => {
    expect(patches()).toContain(`Project ${one}: no access`)
  }, PATIENCE)
})

describe('the section of docs/your-own-backend.md on lists of one parent', () => {
  const read = async (path: string) => await readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const trimmed = (text: string) => text.replaceAll(/^ +/gm, '')

  test('shows the code of the help desk', async () => {
    const text = await read('docs/your-own-backend.md')
    const section = text.slice(text.indexOf('\n### Lists of one parent\n'), text.indexOf('\n## Types\n'))
    const blocks = Array.from(section.matchAll(/^```ts\n(.*?)^```$/gms), ([, code = '']) => trimmed(code))
    const code = [
      await read('engine/test/help-desk/contract.ts'),
      await read('engine/test/help-desk/watch-backlog.ts'),
    ]

    expect(blocks).toHaveLength(2)
    for (const [index, block] of blocks.entries()) expect(trimmed(code[index] ?? '')).toContain(block)
  })

  test('has an example that prints the updates of two projects', async () => {
    const { owner, email, one, two } = await createProjects()
    const printed: unknown[][] = []
    const print = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => {
      printed.push(values)
      if (printed.length === 3) throw new Error('The test ends')
    })
    onTestFinished(() => {
      print.mockRestore()
    })
    const watching = watchBacklog(await service.person(email), one, two).catch((error: unknown) => error)
    await vi.waitUntil(() => printed.length === 2, PATIENCE)

    await owner.tickets.create({ projectId: two, title: 'A bug' })

    expect(await watching).toMatchObject({ message: 'The test ends' })
    expect(printed).toEqual([
      [one, ['One']],
      [two, []],
      [two, ['A bug']],
    ])
  })
})
