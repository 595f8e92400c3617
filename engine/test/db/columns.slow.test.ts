import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { nextCursor } from 'tallystick-contract/internal'
import { afterAll, describe, expect, test } from 'vitest'

import * as account from '../../db/accounts/account.ts'
import { hasAcceptedVersion, updatedIfChanged } from '../../db/columns.ts'
import { isAfterPosition, limitBytes, pageParameters, type PageRequest } from '../../db/pagination.ts'
import { selectWith } from '../../db/accounts/personal-data.ts'
import { everybody } from '../../db/rows/everybody.ts'
import { rows } from '../../db/rows/index.ts'
import { requireRow } from '../../db/statements.ts'
import { users } from '../../db/accounts/users.ts'
import { newestFirst, newestFirstByText, readPage } from '../../procedures/lists/pagination.ts'
import { tableOf } from '../fixtures/column-kinds.ts'
import { openKinds } from '../fixtures/kinds-database.ts'
import { cursorOf } from '../fixtures/sorted-list.ts'

const { cells, missing, close } = await openKinds()
afterAll(close)

/** The values of the columns `required` and `optional`, of any kind. */
const row = (required: unknown, optional: unknown): Partial<Record<string, unknown>> => ({
  required,
  optional,
})

// Each kind of column, required and nullable, with each helper that takes or measures values, on both databases.
describe.each(cells)('a column of $kind on $database', (cell) => {
  const { db, value, other, isNullable = true } = cell
  const { table } = tableOf(cell)
  const filled = isNullable ? row(value, value) : row(value, null)
  const changed = isNullable ? row(other, other) : row(other, null)
  const columns = getTableColumns(table)

  const insert = async (values = filled) =>
    requireRow(
      await db
        .insert(table)
        .values(values as never)
        .returning(),
    )

  const update = async ({ id, version }: { id: number; version: number }, changes: object) =>
    requireRow(
      await db
        .update(table)
        .set({ ...changes, ...updatedIfChanged(columns, changes) })
        .where(and(eq(table.id, id), hasAcceptedVersion(table.version, [version])))
        .returning(),
    )

  const readList = async (id: number, q?: string) => {
    const order = [desc(table.createdAt), desc(table.id)]
    const list = (page: PageRequest) => {
      const rows = db
        .select(columns)
        .from(table)
        .where(and(eq(table.id, id), isAfterPosition(table.createdAt, table.id)))
        .orderBy(...order)
        .limit(sql.placeholder('limit'))
        .as(`kind ${cell.kind}`)
      const options = { texts: [table.required, table.optional], order, isSearch: page.q !== undefined }
      return limitBytes(db, rows, columns, options).execute(pageParameters(page))
    }
    const { rows } = await readPage(
      {
        context: { reply: new Map() },
        input: { limit: 10, ...(q !== undefined && { q }) },
        procedure: { '~orpc': { route: {} } },
      },
      { ...newestFirst, textsOf: () => [] },
      list,
    )
    return rows
  }

  test('returns an inserted value, and null', async () => {
    const inserted = await insert()
    const withNull = await insert(row(value, null))

    expect(inserted).toMatchObject({ ...filled, generated: '1' })
    expect(await db.select().from(table).where(eq(table.id, inserted.id))).toEqual([inserted])
    expect(withNull).toMatchObject(row(value, null))
  })

  test('keeps its version and time when it is set to the same value', async () => {
    const inserted = await insert()
    const withNull = await insert(row(value, null))

    expect(await update(inserted, filled)).toEqual(inserted)
    expect(await update(withNull, { optional: null })).toEqual(withNull)
  })

  test('counts a change to another value, to null, and from null', async () => {
    const inserted = await insert()

    const second = await update(inserted, { required: other })
    const third = await update(second, { optional: null })
    const fourth = await update(third, changed)

    expect(second).toMatchObject({ required: other, version: 2, generated: '2' })
    expect(second.updatedAt.getTime()).toBeGreaterThanOrEqual(inserted.updatedAt.getTime())
    expect(third).toMatchObject({ required: other, optional: null, version: isNullable ? 3 : 2 })
    expect(fourth).toMatchObject({ ...changed, version: isNullable ? 4 : 2 })
  })

  test('has the values of each change by rows, and of no change before', async () => {
    const anyRows = rows(table, {
      visible: everybody(),
      create: ['required'],
      update: ['required', 'optional'],
    })
    const { id } = await insert()
    const person = { id: crypto.randomUUID(), email: 'ada@example.com' }
    const set = (values: object, versions: number[]) => anyRows.update(db, person, id, values, { versions })

    // Each combination of fields twice, because the first change prepares a statement.
    expect(await set(changed, [1])).toMatchObject({ ...changed, version: 2 })
    expect(await set(filled, [1])).toBeUndefined()
    expect(await set(filled, [2])).toMatchObject({ ...filled, version: 3 })
    expect(await set(row(other, null), [1, 3])).toMatchObject({ ...row(other, null), version: 4 })
    expect(await set(row(value, null), [4, 1])).toMatchObject({ ...row(value, null), version: 5 })
    expect(await set({ required: value }, [5])).toMatchObject({ ...row(value, null), version: 5 })
    expect(await anyRows.remove(db, person, id, { versions: [4] })).toBeUndefined()
    expect(await anyRows.remove(db, person, id, { versions: [5] })).toMatchObject({ id, version: 5 })
  })

  test('counts the change to the value of another column once', async () => {
    const inserted = await insert(isNullable ? row(value, other) : row(value, null))

    const copied = await update(
      inserted,
      isNullable ? { optional: table.required } : { required: sql`${table.required}` },
    )

    expect(copied).toMatchObject({ ...filled, version: isNullable ? 2 : 1 })
  })

  test('is part of a page that limits its bytes, and of a search', async () => {
    const inserted = await insert()
    const { text } = requireRow(
      await db
        .select({ text: sql<string>`${table.required}::text` })
        .from(table)
        .where(eq(table.id, inserted.id)),
    )

    const listed = await readList(inserted.id)
    const found = await readList(inserted.id, text)

    expect(listed).toMatchObject([{ ...inserted, bytes: expect.any(Number) }])
    expect(listed[0]).toMatchObject({ bytes: Buffer.byteLength(text) * (isNullable ? 2 : 1) })
    expect(found).toMatchObject([inserted])
    expect(await readList(inserted.id, `${text}?`)).toEqual([])
  })

  test('is part of the export and its size', async () => {
    const inserted = await insert()
    const person = { id: crypto.randomUUID(), name: '', email: `${crypto.randomUUID()}@example.com` }
    await db.insert(users).values(person)
    const select = (id: number) =>
      selectWith(
        (tx) => ({ rows: tx.select().from(table).where(eq(table.id, id)) }),
        ({ rows }) => ({ rows }),
      )

    const data = await account.findData(db, person, { select: select(inserted.id) })
    const size = await account.getSize(db, person, { select: select(inserted.id) })

    expect(data?.resources).toEqual({ rows: [inserted] })
    expect(size).toBeGreaterThan(await account.getSize(db, person, { select: select(0) }))
  })
})

test.skip.each(missing)('$database has no type $kind', () => undefined)

test.each(cells.filter(({ kind }) => kind === 'text'))(
  'PostgreSQL computes the values of generated columns on $database',
  async ({ db, ...cell }) => {
    const { table } = tableOf(cell)

    for (const column of ['generated', 'id'])
      await expect(
        db.execute(sql`insert into ${table} (required, ${sql.identifier(column)}) values ('', '1')`),
      ).rejects.toMatchObject({ cause: { code: '428C9' } })
  },
)

test.each(cells.filter(({ kind }) => kind === 'text'))(
  'the value of an update function is computed for each change on $database',
  async ({ db }) => {
    let count = 0
    const changing = pgTable('kind text', {
      id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
      required: text().notNull(),
      optional: text().$onUpdateFn(() => String(++count)),
    })
    const [{ id } = { id: 0 }] = await db.insert(changing).values({ required: '' }).returning()
    const anyRows = rows(changing, { visible: everybody(), create: ['required'], update: ['required'] })
    const set = (required: string) =>
      anyRows.update(db, { id: crypto.randomUUID(), email: '' }, id, { required })

    const first = await set('a')
    const second = await set('b')

    expect(first).toMatchObject({ required: 'a', optional: expect.stringMatching(/^[0-9]+$/) })
    expect(second).toMatchObject({ required: 'b' })
    expect(second?.optional).not.toBe(first?.optional)
  },
)

const cellsOf = (name: string) => cells.filter(({ kind }) => kind === name)

test.each(cellsOf('numeric with scale'))(
  'a value that $database rounds to the stored value is no change',
  async ({ db, ...cell }) => {
    const { table } = tableOf(cell)
    const values = { required: '1.504' }
    const inserted = requireRow(await db.insert(table).values(values).returning())

    const [updated] = await db
      .update(table)
      .set({ ...values, ...updatedIfChanged(getTableColumns(table), values) })
      .where(eq(table.id, inserted.id))
      .returning()

    expect(updated).toEqual(inserted)
    expect(inserted).toMatchObject({ required: '1.50', version: 1 })
  },
)

test.each(cellsOf('timestamptz as Date'))(
  'a list on $database drops microseconds as Date does',
  async (cell) => {
    const { db } = cell
    const { table } = tableOf(cell)
    for (const time of ['2026-03-01 10:20:30.1239999+00', '1969-12-31 23:59:59.9995+00'])
      await db.insert(table).values({ required: sql`${time}::timestamptz`, group: 1 })
    const order = [desc(table.id)]
    const { id, required } = getTableColumns(table)
    const rows = db.select({ id, required }).from(table).where(eq(table.group, 1)).as(`kind ${cell.kind}`)

    const listed = await limitBytes(db, rows, { id, required }, { texts: [], order })

    const found = await db
      .select({ id, required })
      .from(table)
      .where(eq(table.group, 1))
      .orderBy(...order)
    expect(listed).toMatchObject(found)
  },
)

test.each(cellsOf('uuid'))('a list on $database has ids of any type', async ({ db, ...cell }) => {
  const { table } = tableOf(cell)
  const order = [desc(table.createdAt), desc(table.required)]
  const ids = Array.from({ length: 3 }, () => crypto.randomUUID()).sort()
  await db.insert(table).values(ids.map((required) => ({ required, group: 1 })))
  const columns = { id: table.required, createdAt: table.createdAt }
  const list = (page: PageRequest) =>
    db
      .select({ ...columns, bytes: sql<number>`0` })
      .from(table)
      .where(and(eq(table.group, 1), isAfterPosition(table.createdAt, table.required)))
      .orderBy(...order)
      .limit(sql.placeholder('limit'))
      .execute(pageParameters(page))
  const read = async (cursor?: string) => {
    const reply = new Map<string, string | string[]>()
    const input = { limit: 2, ...(cursor !== undefined && { cursor }) }
    const call = { context: { reply }, input, procedure: { '~orpc': { route: {} } } }
    const { rows } = await readPage(call, { ...newestFirstByText, textsOf: () => [] }, list)
    return { ids: rows.map(({ id }) => id), next: nextCursor(reply.get('link')) }
  }

  const first = await read()
  const second = await read(first.next)

  expect([...first.ids, ...second.ids]).toEqual(ids.reverse())
  await expect(read(cursorOf('1700000000000.x'))).rejects.toMatchObject({ status: 400 })
})
