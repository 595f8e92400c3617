import { count, eq, max, type Query, sql } from 'drizzle-orm'
import { nextCursor } from 'tallystick-contract/internal'
import { everybody, listOf, type Person, type Rows, rows, within } from 'tallystick/db'
import { pageOf } from 'tallystick'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { connectionForLists } from '../db/pagination.ts'
import { users } from '../db/accounts/users.ts'
import { app } from './tracker/app.ts'
import { projectRows, projects, ticketRows, tickets } from './tracker/db.ts'

// Lists of selects over the rows of the tracker.

type Service = Awaited<ReturnType<typeof createTallystick<typeof app.contract, typeof app.router>>>

/** Tickets with the name of their project. */
const ticketList = listOf('ticket_list', {
  visible: ticketRows,
  select: (db, tickets) =>
    db
      .select({
        id: tickets.id,
        relation: tickets.relation,
        projectId: tickets.projectId,
        project: projects.name,
        title: tickets.title,
        status: tickets.status,
        dueAt: tickets.dueAt,
        effort: tickets.effort,
        reference: tickets.reference,
        length: sql<number>`length(${tickets.title})`,
        createdAt: tickets.createdAt,
      })
      .from(tickets)
      .innerJoin(projects, eq(projects.id, tickets.projectId)),
  filter: ['status', 'project', 'length'],
  search: ['title', 'project'],
  orders: {
    newest: [{ column: 'createdAt', direction: 'desc' }],
    due: [{ column: 'dueAt' }],
    dueDescending: [{ column: 'dueAt', direction: 'desc', nulls: 'first' }],
    effort: [{ column: 'effort' }],
    reference: [{ column: 'reference', direction: 'desc' }],
    length: [{ column: 'length', direction: 'desc' }, { column: 'project' }],
  },
})

/** Projects with the number of their tickets. */
const projectList = listOf('project_list', {
  visible: projectRows,
  select: (db, projects) =>
    db
      .select({
        id: projects.id,
        name: projects.name,
        tickets: count(tickets.id),
        lastAt: max(tickets.createdAt),
      })
      .from(projects)
      .leftJoin(tickets, eq(tickets.projectId, projects.id))
      .groupBy(projects.id, projects.name),
  filter: ['tickets'],
  orders: { busiest: [{ column: 'tickets', direction: 'desc' }], last: [{ column: 'lastAt' }] },
})

const listTickets = pageOf(ticketList, (row) => row, 'rows', 'total')
const listProjects = pageOf(projectList, (row) => row, 'rows', 'total')

type Input = Parameters<typeof listTickets>[0]['input']

const databases = { 'a PostgreSQL server': {}, 'the embedded database': { DATABASE_URL: 'memory:' } }

describe.each(Object.entries(databases))('a list of a select on %s', (_, environment) => {
  let service: Service

  beforeAll(async () => {
    service = await createTallystick(app, environment)
  }, 120_000)
  afterAll(() => service.close())

  let people = 0
  /** Creates a person with a project. */
  async function createPerson() {
    const { db } = service.services
    const person: Person = { id: crypto.randomUUID(), email: `person${++people}@example.com` }
    await db.insert(users).values({ ...person, name: '' })
    const project = await projectRows.insert(db, person, { name: `Project ${people}` })
    return { person, projectId: project?.id ?? 0 }
  }

  /** The call of a procedure that lists rows. */
  function callAs(user: Person, input: Input, reply = new Map<string, string | string[]>()) {
    const context = { db: service.services.db, user, reply, resources: {} }
    const procedure = { '~orpc': { meta: {}, route: { path: '/rows' }, errorMap: {} } }
    return { context, input, procedure } as never
  }

  /** Reads all pages of a list, and returns the rows of each. */
  async function readPages<Row>(
    list: (call: never) => Promise<{ rows: Row[]; total: number }>,
    person: Person,
    input: NonNullable<Input>,
  ) {
    const pages: Row[][] = []
    let cursor: string | undefined
    do {
      const reply = new Map<string, string | string[]>()
      const { rows } = await list(
        callAs(person, { ...input, ...(cursor !== undefined && { cursor }) }, reply),
      )
      pages.push(rows)
      cursor = nextCursor(reply.get('link'))
    } while (cursor !== undefined)
    return pages
  }

  async function addTickets(projectId: number, values: readonly Partial<typeof tickets.$inferInsert>[]) {
    await service.services.db
      .insert(tickets)
      .values(values.map((value, index) => ({ projectId, title: `Ticket ${index}`, ...value })))
  }

  test('joins tables, and has only rows that the person may see', async () => {
    const [ada, bob] = [await createPerson(), await createPerson()]
    await addTickets(ada.projectId, [{ title: 'Own' }])
    await addTickets(bob.projectId, [{ title: 'Foreign' }])

    const { rows, total } = await listTickets(callAs(ada.person, {}))

    expect(total).toBe(1)
    expect(rows).toMatchObject([{ title: 'Own', project: expect.stringMatching(/^Project/) as unknown }])
    expect(rows[0]?.createdAt).toBeInstanceOf(Date)
  })

  test('is empty for a person without rows', async () => {
    const { person } = await createPerson()

    expect(await listTickets(callAs(person, {}))).toEqual({ rows: [], total: 0 })
    expect(await listTickets(callAs(person, { q: 'text' }))).toEqual({ rows: [], total: 0 })
  })

  test.each(['newest', 'due', 'dueDescending', 'effort', 'reference', 'length'] as const)(
    'has each row once in pages by %s',
    async (order) => {
      const { person, projectId } = await createPerson()
      await addTickets(
        projectId,
        Array.from({ length: 11 }, (_, index) => ({
          title: 'x'.repeat((index % 4) + 1),
          dueAt: index % 3 === 0 ? null : `2030-01-0${(index % 5) + 1}`,
          effort: index % 4 === 0 ? null : `${index % 2}.10`,
        })),
      )
      const complete = await listTickets(callAs(person, { order }))

      const pages = await readPages(listTickets, person, { order, limit: 3 })

      expect(pages.map(({ length }) => length)).toEqual([3, 3, 3, 2])
      expect(complete.rows).toHaveLength(11)
      expect(pages.flat().map(({ id }) => id)).toEqual(complete.rows.map(({ id }) => id))
    },
  )

  test('sorts nulls as declared, and by an expression', async () => {
    const { person, projectId } = await createPerson()
    await addTickets(projectId, [
      { title: 'a', dueAt: '2030-01-02' },
      { title: 'bbb', dueAt: null },
      { title: 'cc', dueAt: '2030-01-01' },
    ])
    const titlesBy = async (order: string) => {
      const { rows } = await listTickets(callAs(person, { order }))
      return rows.map(({ title }) => title)
    }

    expect(await titlesBy('due')).toEqual(['cc', 'a', 'bbb'])
    expect(await titlesBy('dueDescending')).toEqual(['bbb', 'a', 'cc'])
    expect(await titlesBy('length')).toEqual(['bbb', 'cc', 'a'])
  })

  test('filters by a column, by a column of a joined table, by an expression, and by a parent', async () => {
    const { person, projectId } = await createPerson()
    const other = await projectRows.insert(service.services.db, person, { name: 'Other' })
    await addTickets(projectId, [{ title: 'a', status: 'closed' }, { title: 'bb' }])
    await addTickets(other?.id ?? 0, [{ title: 'ccc' }])
    const titlesOf = async (input: Input) => {
      const { rows, total } = await listTickets(callAs(person, { ...input, limit: 2 }))
      return { titles: rows.map(({ title }) => title).sort(), total }
    }

    expect(await titlesOf({ status: 'closed' })).toEqual({ titles: ['a'], total: 1 })
    expect(await titlesOf({ project: 'Other' })).toEqual({ titles: ['ccc'], total: 1 })
    expect(await titlesOf({ length: 2 })).toEqual({ titles: ['bb'], total: 1 })
    expect(await titlesOf({ projectId })).toEqual({ titles: ['a', 'bb'], total: 2 })
    expect(await titlesOf({})).toMatchObject({ total: 3 })
  })

  test('searches texts of both tables, and counts all matches', async () => {
    const { person, projectId } = await createPerson()
    await addTickets(projectId, [{ title: 'Needle one' }, { title: 'Hay' }, { title: 'needle two' }])

    const found = await readPages(listTickets, person, { q: 'NEEDLE', limit: 1 })
    const byProject = await listTickets(callAs(person, { q: 'project', limit: 1 }))

    expect(
      found
        .flat()
        .map(({ title }) => title)
        .sort(),
    ).toEqual(['Needle one', 'needle two'])
    expect(byProject).toMatchObject({ total: 3 })
  })

  test('groups rows, and sorts by a count and by a time of the group', async () => {
    const { person, projectId } = await createPerson()
    const { db } = service.services
    const busy = await projectRows.insert(db, person, { name: 'Busy' })
    const empty = await projectRows.insert(db, person, { name: 'Empty' })
    await addTickets(projectId, [{}])
    await addTickets(busy?.id ?? 0, [{}, {}])

    const pages = await readPages(listProjects, person, { order: 'busiest', limit: 1 })
    const last = await readPages(listProjects, person, { order: 'last', limit: 1 })
    const filtered = await listProjects(callAs(person, { tickets: 2 }))

    expect(pages.flat().map(({ id, tickets }) => [id, tickets])).toEqual([
      [busy?.id, 2],
      [projectId, 1],
      [empty?.id, 0],
    ])
    expect(last.flat().map(({ id }) => id)).toEqual([projectId, busy?.id, empty?.id])
    expect(filtered).toMatchObject({
      rows: [{ id: busy?.id, lastAt: expect.any(Date) as unknown }],
      total: 1,
    })
  })

  test('ends a page before its texts exceed 1 MiB, with the texts of both tables', async () => {
    const { person, projectId } = await createPerson()
    await service.services.db
      .update(projects)
      .set({ name: 'x'.repeat(1000) })
      .where(eq(projects.id, projectId))
    await addTickets(
      projectId,
      Array.from({ length: 300 }, () => ({ title: 'x'.repeat(5000) })),
    )

    const pages = await readPages(listTickets, person, {})

    expect(pages[0]?.length).toBeGreaterThan(150)
    expect(pages[0]?.length).toBeLessThan((1024 * 1024) / 6000)
    expect(pages.flat()).toHaveLength(300)
  })

  test('refuses a cursor of another list', async () => {
    const { person } = await createPerson()
    const cursor = Buffer.from('["2030-01-01","text"]').toString('base64url')

    await expect(listTickets(callAs(person, { order: 'due', cursor }))).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
  })

  test('is a table that resources show, also after a change', async () => {
    const { person, projectId } = await createPerson()
    const { db } = service.services

    const inserted = await ticketList.insert(db, person, { projectId, title: 'New' })
    const id = inserted?.id ?? 0
    const updated = await ticketList.update(db, person, id, { title: 'Changed' })
    const stranger = await ticketList.find(db, (await createPerson()).person, id)

    expect(inserted).toMatchObject({ project: expect.any(String) as unknown, relations: ['owner'] })
    expect(updated).toMatchObject({ title: 'Changed', length: 7, version: 2 })
    expect(await ticketList.find(db, person, id)).toEqual(updated)
    expect(stranger).toBeUndefined()
  })

  test('keeps the order of an index: PostgreSQL reads only the rows of a page', async () => {
    const { person } = await createPerson()
    const { db } = service.services
    const names = Array.from({ length: 2000 }, (_, index) => ({
      userId: person.id,
      name: `Project ${index}`,
    }))
    await db.insert(projects).values(names)
    await db.execute(sql`analyze ${projects}`)
    const own = listOf('own', {
      visible: rows(projects, { create: ['name'] }),
      select: (db, projects) =>
        db
          .select({ id: projects.id, createdAt: projects.createdAt, email: users.email })
          .from(projects)
          .innerJoin(users, eq(users.id, projects.userId)),
    })
    const prepare = vi.spyOn(connectionForLists(db)._.session, 'prepareQuery')

    await own.list(db, person, { limit: 20 })
    const [query] = prepare.mock.calls[0] ?? []
    prepare.mockRestore()
    const plan = await explain(query, { userId: person.id, limit: 20 })

    expect(plan).toContain('projects_user_id_created_at_id_index')
    expect(plan).not.toContain('Sort')
  })

  /** Explains a statement with the values of its placeholders. */
  async function explain(query: Query | undefined, values: Readonly<Record<string, string | number>>) {
    const text = query?.sql.replace(/\$(\d+)/g, (_, number) => {
      const parameter = query.params[Number(number) - 1] as { name: string } | { value: { name: string } }
      const value = values['name' in parameter ? parameter.name : parameter.value.name]
      return typeof value === 'number' ? String(value) : `'${value}'`
    })
    return JSON.stringify(await service.services.db.execute(sql.raw(`explain ${text}`)))
  }
})

describe('the declaration of a list', () => {
  const own = rows(projects, { create: ['name'] })

  test.each<[string, () => Pick<Rows, 'checkDeclaration'>, string]>([
    [
      'without createdAt and orders',
      () => listOf('a', { visible: own, select: (db, rows) => db.select({ id: rows.id }).from(rows) }),
      'The list a needs the field createdAt in its select',
    ],
    [
      'with an order in the select',
      () =>
        listOf('a', {
          visible: own,
          select: (db, rows) => db.select().from(rows).orderBy(rows.id),
        }),
      'The list a: remove orderBy from the select. The list adds it: use `orders`',
    ],
    [
      'with an object of columns',
      () =>
        listOf('a', {
          visible: own,
          select: (db, rows) => db.select({ id: rows.id, project: { name: rows.name } }).from(rows),
        }),
      'The list a: the field project must be a column or an expression, not an object of them',
    ],
    [
      'of rows with several relations without the relation',
      () =>
        listOf('a', {
          visible: projectRows,
          select: (db, rows) => db.select({ id: rows.id, createdAt: rows.createdAt }).from(rows),
        }),
      'The list a needs the field relation of the visible rows in its select',
    ],
    [
      'with a union',
      () =>
        listOf('a', {
          visible: own,
          select: (db, rows) =>
            db
              .select({ id: rows.id, createdAt: rows.createdAt })
              .from(rows)
              .union(db.select({ id: projects.id, createdAt: projects.createdAt }).from(projects)),
        }),
      'The list a: a union would hide who may see a row. Use it in a subquery that the select joins',
    ],
  ])('cannot be one %s', (_, declare, message) => {
    expect(() => declare().checkDeclaration?.()).toThrow(message)
  })

  // The compiler reports each mistake: without the mistake, the comment would be an error.
  test.each<[string, () => unknown]>([
    [
      'a table instead of the visible rows',
      // @ts-expect-error The name of the table is not `visible`
      () => listOf('a', { visible: own, select: (db) => db.select().from(projects) }),
    ],
    [
      'an outer join that adds rows',
      () =>
        listOf('a', {
          visible: own,
          select: (db, rows) =>
            // @ts-expect-error The rows can be null
            db.select({ id: projects.id }).from(rows).rightJoin(projects, eq(projects.id, rows.id)),
        }),
    ],
    [
      'a row without an id',
      // @ts-expect-error Property 'id' is missing
      () => listOf('a', { visible: own, select: (db, rows) => db.select({ name: rows.name }).from(rows) }),
    ],
    [
      'an unknown filter',
      () =>
        listOf('a', {
          visible: own,
          // @ts-expect-error Property 'title' is missing
          select: (db, rows) => db.select({ id: rows.id, createdAt: rows.createdAt }).from(rows),
          filter: ['title'],
        }),
    ],
  ])('cannot contain %s: the compiler reports the mistake', (_, declare) => {
    expect(declare).toBeTypeOf('function')
  })

  test('can be of rows of everybody, and of rows within parents of parents', () => {
    const open = rows(projects, { visible: everybody(), create: ['name'] })
    const inTickets = rows(tickets, { visible: within(open, 'projectId'), create: ['title'] })
    const list = listOf('a', {
      visible: inTickets,
      select: (db, rows) => db.select({ id: rows.id, createdAt: rows.createdAt }).from(rows),
    })

    expect(list.visibility.relations).toEqual(['anyone'])
  })
})
