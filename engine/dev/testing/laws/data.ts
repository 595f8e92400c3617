import { getTableName, sql } from 'drizzle-orm'
import { nextCursor } from 'tallystick-contract/internal'

import type { Database } from 'tallystick/internal/db/connection/database'
import { listEngineTables } from 'tallystick/internal/db/migrate/migration-files'
import { replaceProcedure } from './calls.ts'
import { type AnyCases, callsOf } from './cases.ts'
import type { Declared } from './procedures.ts'
import { explain, type Running } from './running.ts'
import { queryRows } from './snapshots.ts'
import { callerOf, createScene, endSharing, type Person, type Scene, type Worlds } from './worlds.ts'

/** Lists the tables that have a column `user_id`, but no foreign key to `users` with `ON DELETE CASCADE`. */
export async function listTablesWithoutCascade(db: Database) {
  return readTexts(
    db,
    sql`
    select table_name as value from information_schema.columns
    where table_schema = 'public' and column_name = 'user_id'
    except select conrelid::regclass::text from pg_constraint
    where contype = 'f' and confrelid = 'users'::regclass and confdeltype = 'c'`,
  )
}

/**
 * Lists the tables whose rows are within a parent, and whose foreign key declares nothing for the deletion of the parent: the
 * database then refuses to delete a parent with rows.
 */
export async function listTablesThatKeepParents({
  app,
  services: { db },
}: Pick<Running, 'app' | 'services'>) {
  const declared = await readTexts(
    db,
    sql`
    select conrelid::regclass || ' ' || confrelid::regclass as value from pg_constraint
    where contype = 'f' and confdeltype <> 'a'`,
  )
  return Object.values(app.resources).flatMap(({ rows }) => {
    if (!rows?.visibility.parent) return []
    const [table, parent] = [rows, rows.visibility.parent.rows].map((each) => getTableName(each.table))
    return declared.includes(`${table} ${parent}`) ? [] : [table]
  })
}

/** Returns the texts of the column `value`. */
const readTexts = async (...statement: Parameters<typeof queryRows>) =>
  (await queryRows<{ value: string }>(...statement)).map(({ value }) => value)

const listTables = (db: Database) =>
  readTexts(db, sql`select tablename as value from pg_tables where schemaname = 'public'`)

/** Lists the tables of an application with a column `user_id`. */
async function listOwnedTables(db: Database) {
  const engineTables = listEngineTables()
  const tables = await readTexts(
    db,
    sql`
    select table_name as value from information_schema.columns
    where table_schema = 'public' and column_name = 'user_id'`,
  )
  return tables.filter((name) => !engineTables.includes(name))
}

/** Lists the tables of the application in which `prepare` creates no row of Ada. */
export async function listTablesWithoutRows({ running, ada }: Scene) {
  const { db } = running.services
  const empty: string[] = []
  for (const table of await listOwnedTables(db)) {
    const statement = sql`select 1 from ${sql.identifier(table)} where user_id = ${ada.id} limit 1`
    const found = await queryRows(db, statement)
    if (found.length === 0) empty.push(table)
  }
  return empty
}

/** Lists the tables that contain a text, with the number of occurrences. */
async function listOccurrences(db: Database, text: string) {
  const found: { table: string; count: number }[] = []
  for (const table of await listTables(db)) {
    const rows = await readTexts(
      db,
      sql`select row::text as value from ${sql.identifier(table)} as row where position(${text} in row::text) > 0`,
    )
    const count = rows.reduce((sum, row) => sum + occurrences(row, text), 0)
    if (count > 0) found.push({ table, count })
  }
  return found
}

const occurrences = (value: string, text: string) => value.split(text).length - 1

/** Describes what the database contains of Ada's texts, but the export does not. Undefined if the export is complete. */
export async function findUnexported(scene: Scene) {
  const { running, people, text } = scene
  const stored = await listOccurrences(running.services.db, text)
  const exported = occurrences(JSON.stringify(await people.ada.account.export()), text)
  const total = stored.reduce((sum, { count }) => sum + count, 0)
  return exported < total
    ? `The export contains the text ${exported} times, and the database ${total} times, in: ${stored.map(({ table }) => table).join(', ')}`
    : undefined
}

/** Lists the resources whose part of the export is the same for Ada as for a person without rows. */
export async function listEmptyParts({ running: { app, services }, ada, administrator }: Scene) {
  const empty: string[] = []
  for (const [name, { personalData }] of Object.entries(app.resources)) {
    const read = async (person: Person) =>
      JSON.stringify(await personalData?.select(services.db, person).read())
    if (personalData && (await read(ada)) === (await read(administrator))) empty.push(name)
  }
  return empty
}

/**
 * Deletes the account of Ada. Lists the tables that still contain the texts, the id or the address of Ada, except tables
 * that keep addresses by the declaration of a resource (`keepsAddressIn`).
 */
export async function listTablesAfterDeletion({ running, people, ada, text }: Scene) {
  const { app, services } = running
  await endSharing(running, ada)
  await people.ada.account.delete({ email: ada.email })
  const { keepsAddressIn = {} } = app.personalData
  const list = async (value: string) => (await listOccurrences(services.db, value)).map(({ table }) => table)
  const withAddress = (await list(ada.email)).filter((table) => !Object.hasOwn(keepsAddressIn, table))
  return [...new Set([...(await list(text)), ...(await list(ada.id)), ...withAddress])]
}

/** The items of a list: the output, or the only list in the output. */
function itemsOf(output: unknown): unknown[] {
  const members: unknown[] = Object.values(output as object)
  const [list, other] = Array.isArray(output) ? [output] : members.filter((value) => Array.isArray(value))
  if (!list || other) throw new Error('The output of a list must contain one list')
  return list
}

/** The fields of an output beside its list. */
const othersOf = (output: unknown) =>
  Array.isArray(output)
    ? {}
    : Object.fromEntries(Object.entries(output as object).filter(([, value]) => !Array.isArray(value)))

/**
 * Reads a list in pages of one item, for each call of the cases. Returns the complete lists, the items of each page, and the
 * other fields of all outputs, for example totals. Ada has the rows of two runs of `prepare`, so that the list has several items.
 * The second run has another text, because texts can be unique.
 */
export async function readPages(worlds: Worlds, cases: AnyCases, { name, path, meta }: Declared) {
  const scene = await createScene(worlds)
  const { running, connect, people } = scene
  const prepare = cases.prepare as (given: object, text: string) => Promise<unknown>
  const fixture = await prepare(people, `text-${crypto.randomUUID()}`).catch((error: unknown) => {
    throw explain(error, running)
  })
  const client = connect(running, { cookie: callerOf(scene, meta).cookie })
  return Promise.all(
    callsOf(cases, name).map(async (call) => {
      const withInput = (values: object, reply: Map<string, string>) =>
        replaceProcedure(
          client,
          path,
          (list) => (input) => list({ ...(input as object | undefined), ...values }, { context: { reply } }),
        )
      const output = await call(withInput({ limit: undefined }, new Map()), fixture)
      const complete = itemsOf(output)
      const pages: unknown[][] = []
      const totals = [othersOf(output)]
      let cursor: string | undefined
      do {
        const reply = new Map<string, string>()
        const values = { limit: 1, ...(cursor !== undefined && { cursor }) }
        const page = await call(withInput(values, reply), fixture)
        pages.push(itemsOf(page))
        totals.push(othersOf(page))
        cursor = nextCursor(reply.get('link'))
      } while (cursor !== undefined && pages.length <= complete.length)
      return { complete, pages, totals }
    }),
  )
}
