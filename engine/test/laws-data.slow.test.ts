import { createRouterClient, ORPCError, Procedure } from '@orpc/server'
import { and, eq, ilike, max, ne, or, sql } from 'drizzle-orm'
import type { Meta } from 'tallystick-contract'
import type { Context } from 'tallystick'
import { afterAll, describe, expect, test } from 'vitest'

import { users } from '../db/accounts/users.ts'
import { createContext } from '../guard/authentication.ts'
import type { App } from '../app/resource.ts'
import { listUnannounced } from '../dev/testing/laws/observed/announcements.ts'
import type { AnyCases } from '../dev/testing/laws/cases.ts'
import {
  listDependencies,
  listEffectsOfAda,
  listVolatile,
} from '../dev/testing/laws/observed/interference.ts'
import { listIgnoredInputs } from '../dev/testing/laws/observed/inputs.ts'
import { createLaw } from '../dev/testing/laws/observed/observations.ts'
import { proceduresOf } from '../dev/testing/laws/procedures.ts'
import { inProcess, type Running, start } from '../dev/testing/laws/running.ts'
import { checkSwaps } from '../dev/testing/laws/observed/swaps.ts'
import { listUnchangedTags } from '../dev/testing/laws/observed/tags.ts'
import { createWorlds, waitForSecond } from '../dev/testing/laws/worlds.ts'
import { app, change, insert } from './desk/app.ts'
import { cases } from './desk/cases.ts'
import * as query from './desk/db.ts'

// The laws of data on mistakes of an application. Each mistake replaces a handler of the desk.

const { projects, tickets } = query
const running = await start(app)
afterAll(() => running.close())

type Input = Record<string, unknown> & {
  projectId: number
  id: number
  to: number
  title: string
  q?: string
  dueAt?: string
}
type Handle = (given: { db: Context['db']; reply: Context['reply']; userId: string; input: Input }) => unknown
type Mistakes = Readonly<Record<string, Handle>>

/** Returns the desk with other handlers. `metas` replaces parts of the contract. */
function breakDesk(mistakes: Mistakes, metas: Readonly<Record<string, Partial<Meta>>> = {}): Running {
  const replace = (name: string, procedure: App['router'][string][string]) => {
    const [handle, meta] = [mistakes[name], metas[name]]
    if (!handle && !meta) return procedure
    const definition = procedure['~orpc']
    const handler = handle
      ? ({ context, input }: { context: Context & { user?: { id: string } }; input: unknown }) =>
          handle({
            db: context.db,
            reply: context.reply,
            userId: context.user?.id ?? '',
            input: (input ?? {}) as Input,
          })
      : definition.handler
    return new Procedure({ ...definition, handler, meta: { ...definition.meta, ...meta } } as never)
  }
  const router = Object.fromEntries(
    Object.entries(app.router as App['router']).map(([resource, procedures]) => [
      resource,
      Object.fromEntries(
        Object.entries(procedures).map(([key, each]) => [key, replace(`${resource}.${key}`, each)]),
      ),
    ]),
  )
  const broken = { ...app, router } as unknown as App
  const services = { ...running.services, app: broken }
  const client = (headers: Record<string, string>) =>
    createRouterClient<App['router'], { headers?: Record<string, string>; reply?: Map<string, string> }>(
      broken.router,
      {
        context: (call: { headers?: Record<string, string>; reply?: Map<string, string> }) =>
          createContext(services, { ...headers, ...call.headers }, call.reply ? { reply: call.reply } : {}),
      },
    ) as unknown as ReturnType<Running['client']>
  return { ...running, app: broken, services, client }
}

/** Without a wait, times in seconds can be equal. */
const thisSecond = () => Promise.resolve(Math.floor(Date.now() / 1000) * 1000)

/** Runs the laws of data for some procedures, and returns what they find. */
async function findViolations(
  broken: Running,
  names: readonly string[],
  others: Partial<AnyCases> = {},
  waitForTime: () => Promise<number> = thisSecond,
) {
  const all = { ...(cases as unknown as AnyCases), ...others }
  const law = createLaw(await createWorlds(broken, all, waitForTime), all, inProcess)
  const found: string[] = []
  for (const declared of proceduresOf(broken.app.router)) {
    if (!names.includes(declared.name)) continue
    found.push(...(await listDependencies(law, declared)))
    found.push(...(await checkSwaps(law, declared, inProcess)).sentences)
    found.push(...(await listIgnoredInputs(law, declared)))
    if (!declared.isChange) continue
    found.push(...(await listEffectsOfAda(law, declared)))
    found.push(...(await listUnannounced(law, declared)))
    found.push(...(await listUnchangedTags(law, declared)))
  }
  return { found, law }
}

const select = async (db: Context['db'], condition: Parameters<typeof query.selectTickets>[1]) => {
  const rows = await query.selectTickets(db, condition)
  return rows.map(({ id, projectId, title, dueAt }) => ({ id, projectId, title, dueAt }))
}

const total = (list: readonly unknown[]) => ({ tickets: list, total: list.length })
const notFound = () =>
  new ORPCError('NOT_FOUND', { status: 404, message: 'There is no such project or ticket' })

const requireProject = async (db: Context['db'], userId: string, id: number) => {
  if (!(await query.hasProject(db, userId, id))) throw notFound()
}

/** Each mistake: the procedure that shows it, its handler, and a part of the sentence that the laws must say. */
const mistakes: readonly [mistake: string, name: string, handle: Handle, sentence: string][] = [
  [
    'an optional filter by the id of a foreign parent, without owner',
    'tickets.list',
    async ({ db, userId, input }) =>
      total(
        await select(
          db,
          input.projectId ? eq(tickets.projectId, input.projectId) : query.ownsProject(userId),
        ),
      ),
    'Bob calls tickets.list (call 2) with projectId of Ada. tickets.list (call 2): tickets has 1 items instead of 0',
  ],
  [
    'the id of an item that is not bound to its parent',
    'tickets.update',
    async ({ db, userId, input }) => {
      await requireProject(db, userId, input.projectId)
      const [row] = await select(db, eq(tickets.id, input.id))
      if (!row) throw notFound()
      return change(db, row.id, { title: input.title })
    },
    'Bob calls tickets.update with id of Ada. Ada observes: tickets.list',
  ],
  [
    'a row in a foreign parent',
    'tickets.create',
    ({ db, input: { projectId, title } }) => insert(db, { projectId, title }),
    'Bob calls tickets.create with projectId of Ada. Ada observes: ',
  ],
  [
    'an own item that moves into a foreign parent',
    'tickets.move',
    async ({ db, userId, input }) => {
      await requireProject(db, userId, input.projectId)
      const [row] = await select(db, and(eq(tickets.projectId, input.projectId), eq(tickets.id, input.id)))
      if (!row) throw notFound()
      return change(db, row.id, { projectId: input.to })
    },
    'Bob calls tickets.move with to of Ada. Ada observes: ',
  ],
  [
    'a search with the wrong precedence of `or`',
    'tickets.list',
    async ({ db, userId, input: { q, projectId } }) =>
      total(
        await select(
          db,
          q === undefined
            ? and(query.ownsProject(userId), projectId ? eq(tickets.projectId, projectId) : undefined)
            : or(and(query.ownsProject(userId), ilike(projects.name, `%${q}%`)), query.matches(q)),
        ),
      ),
    'Bob calls tickets.list (call 3) with q of Ada. ',
  ],
  [
    'a public procedure that shows the address of owners',
    'projects.directory',
    async ({ db }) => {
      const rows = await db
        .select({ name: projects.name, email: users.email })
        .from(projects)
        .innerJoin(users, eq(users.id, projects.userId))
      return { names: rows.map(({ name, email }) => `${name} ${email}`), contact: 'desk@example.com' }
    },
    'projects.directory: names.* contains the id or the address of Ada',
  ],
  [
    'the data of an error with the id of a foreign owner',
    'tickets.delete',
    async ({ db, userId, input }) => {
      const [row] = await db
        .select({ owner: projects.userId })
        .from(tickets)
        .innerJoin(projects, eq(projects.id, tickets.projectId))
        .where(eq(tickets.id, input.id))
      if (row?.owner !== userId)
        throw new ORPCError('NOT_FOUND', { status: 404, message: `The owner is ${row?.owner ?? 'nobody'}` })
      await db.delete(tickets).where(eq(tickets.id, input.id))
      return { success: true }
    },
    'Bob calls tickets.delete with id of Ada. tickets.delete: message is "The owner is ',
  ],
  [
    'a list of dates without owner',
    'tickets.dates',
    async ({ db }) => {
      const rows = await db.select().from(tickets)
      return { dates: rows.flatMap(({ dueAt }) => dueAt ?? []), open: 2 }
    },
    'With the rows of Ada, tickets.dates: dates has 2 items instead of 1',
  ],
  [
    'a number without owner',
    'tickets.dates',
    async ({ db }) => ({ dates: ['2030-01-01'], open: await db.$count(tickets) }),
    'With the rows of Ada, tickets.dates: open is 4 instead of 2',
  ],
  [
    'a total without owner',
    'tickets.list',
    async ({ db, userId, input: { projectId, q } }) => ({
      tickets: await select(
        db,
        and(
          query.ownsProject(userId),
          projectId ? eq(tickets.projectId, projectId) : undefined,
          q === undefined ? undefined : query.matches(q),
        ),
      ),
      total: await db.$count(tickets),
    }),
    'With the rows of Ada, tickets.list (call 1): total is 4 instead of 2',
  ],
  [
    'an oldest-first list without owner',
    'tickets.oldest',
    async ({ db }) => ({
      tickets: (await query.selectOldest(db, undefined)).map(({ id, projectId, title, dueAt }) => ({
        id,
        projectId,
        title,
        dueAt,
      })),
    }),
    'With the rows of Ada, tickets.oldest: tickets.*.id is ',
  ],
  [
    'a field that is accepted and dropped',
    'tickets.create',
    async ({ db, userId, input: { projectId, title } }) => {
      await requireProject(db, userId, projectId)
      return insert(db, { projectId, title, dueAt: null })
    },
    'tickets.create: another value of `dueAt` changes neither the answer nor a later read',
  ],
  [
    'a title that must be unique across people',
    'tickets.create',
    async ({ db, userId, input: { projectId, title, dueAt } }) => {
      await requireProject(db, userId, projectId)
      if ((await query.countTickets(db, and(eq(tickets.title, title), ne(projects.userId, userId)))) > 0)
        throw new ORPCError('CONFLICT', { message: 'The title is taken' })
      return insert(db, { projectId, title, dueAt })
    },
    'Bob calls tickets.create with title of Ada. tickets.create: status is 409 instead of 200',
  ],
  [
    'a deletion of all rows',
    'tickets.delete',
    async ({ db, userId, input }) => {
      await requireProject(db, userId, input.projectId)
      await db.execute(sql`delete from tickets`)
      return { success: true }
    },
    'Ada calls tickets.delete. Bob observes: tickets.list (call 1): tickets has 0 items instead of 2',
  ],
]

describe('the laws of data', () => {
  test('find nothing in the desk', async () => {
    const names = Object.keys(cases.calls)
    const { found, law } = await findViolations(running, names)

    expect(found).toEqual([])
    expect(await listVolatile(law)).toEqual([])
    expect(law.exceptions.listUnused()).toEqual([])
  })

  test.each(mistakes)('find %s', async (_, name, handle, sentence) => {
    const { found } = await findViolations(breakDesk({ [name]: handle }), [name])

    expect(found).toContainEqual(expect.stringContaining(sentence))
  })

  test.each([
    ['empty `updates`', []],
    [
      'the wrong topic in `updates`',
      [app.contract.projects.list['~orpc'].meta.reads].flatMap((topic) => topic ?? []),
    ],
  ])('find %s', async (_, updates) => {
    const { found } = await findViolations(breakDesk({}, { 'tickets.create': { updates } }), [
      'tickets.create',
    ])

    expect(found).toEqual([
      'tickets.create changes the state of the topic tickets, but does not announce it in `updates`',
    ])
  })

  test('find a public change that announces its topic to nobody', async () => {
    const updates = [app.contract.projects.list['~orpc'].meta.reads].flatMap((topic) => topic ?? [])
    const broken = breakDesk({}, { 'projects.directory': { updates } })
    const { law } = await findViolations(broken, [])
    const declared = proceduresOf(broken.app.router).filter(({ name }) => name === 'projects.directory')

    expect(await Promise.all(declared.map((each) => listUnannounced(law, each)))).toEqual([
      [
        'projects.directory announces the topic projects to nobody: without a caller, its handler must call `announce` with the recipients',
      ],
    ])
  })

  test('find a time in seconds that depends on the rows of others', async () => {
    const broken = breakDesk({
      'tickets.dates': async ({ db }) => {
        const [row] = await db.select({ last: max(tickets.createdAt) }).from(tickets)
        return { dates: [], open: Math.floor(Number(row?.last) / 1000) }
      },
    })
    const { found } = await findViolations(broken, ['tickets.dates'], {}, waitForSecond)

    expect(found).toEqual([
      expect.stringMatching(/^With the rows of Ada, tickets\.dates: open is \d+ instead of \d+$/),
    ])
  })

  test('find a change that does not change the ETag of an answer', async () => {
    const broken = breakDesk({
      'tickets.dates': async ({ db, reply, userId }) => {
        const open = await query.countTickets(db, query.ownsProject(userId))
        reply.set('etag', '"1"')
        return { dates: [], open }
      },
    })
    const { found } = await findViolations(broken, ['tickets.create'])

    expect(found).toEqual([
      'tickets.create does not change the ETag of tickets.dates, whose open is 3 instead of 2: a change of a row must increase `version`',
    ])
  })

  test('find an exception that nothing needs', async () => {
    const shared = { ...cases.shared, 'tickets.dates': { open: 'A total of all people.' } }
    const { law } = await findViolations(running, ['projects.directory', 'tickets.dates'], { shared })

    expect(law.exceptions.listUnused()).toEqual(['shared tickets.dates open'])
  })

  test('find an optional field that no call uses', async () => {
    const calls = { ...cases.calls, 'tickets.list': cases.calls['tickets.create'] }
    const { found } = await findViolations(running, ['tickets.list'], { calls: calls })

    expect(found).toEqual([
      "No call of tickets.list uses `projectId`. Add a call with it: 'tickets.list': [(…), ({ tickets }) => tickets.list({ …, projectId: … })]",
      "No call of tickets.list uses `q`. Add a call with it: 'tickets.list': [(…), ({ tickets }) => tickets.list({ …, q: … })]",
    ])
  })

  test('find a value that differs between two calls', async () => {
    const broken = breakDesk({ 'tickets.dates': () => ({ dates: [crypto.randomUUID()], open: 2 }) })
    const { law } = await findViolations(broken, [])

    expect(await listVolatile(law)).toEqual([
      expect.stringContaining('Two calls with nothing between them. tickets.dates: dates.* is '),
    ])
  })
})
