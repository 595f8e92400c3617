import { sql } from 'drizzle-orm'
import { nextCursor } from 'tallystick-contract'

import type { Database } from '../../db/database.ts'
import { listEngineTables } from '../../db/migrations.ts'
import type { AnyCases } from './cases.ts'
import type { Declared } from './procedures.ts'
import { callerOf, runCall, runCallWith, type Scene } from './running.ts'

/** Lists the tables that have a column `user_id`, but no foreign key to `users` with `ON DELETE CASCADE`. */
export async function listTablesWithoutCascade(db: Database) {
  const rows = await db.execute(sql`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'user_id'
    except select conrelid::regclass::text from pg_constraint
    where contype = 'f' and confrelid = 'users'::regclass and confdeltype = 'c'`)
  return namesIn(rows)
}

/** The drivers return different objects with rows. */
const namesIn = (result: unknown) => {
  const rows = (Array.isArray(result) ? result : (result as { rows: unknown }).rows) as { name: string }[]
  return Array.from(rows, ({ name }) => name)
}

const listTables = async (db: Database) =>
  namesIn(await db.execute(sql`select tablename as name from pg_tables where schemaname = 'public'`))

/** Lists the tables of an application with a column `user_id`. */
async function listOwnedTables(db: Database) {
  const engineTables = listEngineTables()
  const rows = await db.execute(sql`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'user_id'`)
  return namesIn(rows).filter((name) => !engineTables.includes(name))
}

/** Lists the tables of the application in which `prepare` creates no row of Ada. */
export async function listTablesWithoutRows({ running, ada }: Scene) {
  const { db } = running.services
  const empty: string[] = []
  for (const table of await listOwnedTables(db)) {
    const name = sql.identifier(table)
    const found = await db.execute(
      sql`select ${table}::text as name from ${name} where user_id = ${ada.id} limit 1`,
    )
    if (namesIn(found).length === 0) empty.push(table)
  }
  return empty
}

/** Lists the tables that contain a text, with the number of occurrences. */
async function listOccurrences(db: Database, text: string) {
  const found: { table: string; count: number }[] = []
  for (const table of await listTables(db)) {
    const rows = await db.execute(
      sql`select row::text as name from ${sql.identifier(table)} as row where position(${text} in row::text) > 0`,
    )
    const count = namesIn(rows).reduce((sum, row) => sum + occurrences(row, text), 0)
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

/** Lists the resources with personal data, without Ada's text in their part of the export. */
export async function listEmptyParts(scene: Scene, { withoutText = {} }: Pick<AnyCases, 'withoutText'>) {
  const parts = await readParts(scene)
  return Object.keys(parts).filter(
    (name) => !Object.hasOwn(withoutText, name) && !parts[name]?.includes(scene.text),
  )
}

/** Reads the part of Ada's export of each resource, as JSON. */
async function readParts({ running: { app, services }, ada }: Scene) {
  const parts: Record<string, string> = {}
  for (const [name, { personalData }] of Object.entries(app.resources))
    if (personalData) parts[name] = JSON.stringify(await personalData.select(services.db, ada).read())
  return parts
}

/**
 * Deletes the account of Ada. Lists the tables that still contain the texts, the id or the address of Ada, except tables
 * that keep addresses by the declaration of a resource (`keepsAddressIn`).
 */
export async function listTablesAfterDeletion({ running: { app, services }, people, ada, text }: Scene) {
  await people.ada.account.delete({ email: ada.email })
  const { keepsAddressIn = {} } = app.personalData
  const list = async (value: string) => (await listOccurrences(services.db, value)).map(({ table }) => table)
  const withAddress = (await list(ada.email)).filter((table) => !Object.hasOwn(keepsAddressIn, table))
  return [...new Set([...(await list(text)), ...(await list(ada.id)), ...withAddress])]
}

/** Calls a procedure as Bob, with the fixture of Ada. Lists what Bob received or changed. */
export async function listForeignEffects(scene: Scene, cases: AnyCases, { name }: Declared) {
  const before = await readParts(scene)
  const received = await runCall(scene, cases, name, scene.bob).catch((error: unknown) => error)
  const after = await readParts(scene)
  return [
    ...(JSON.stringify(received).includes(scene.text) ? [`${name} shows texts of another person`] : []),
    ...Object.keys(before)
      .filter((part) => before[part] !== after[part])
      .map((part) => `${name} changes the ${part} of another person`),
  ]
}

type Call = (input: object | undefined, options: { context: object }) => Promise<unknown>

/** Returns a client that adds values to the input of one procedure, and records the headers of the answer. */
function withInput(
  client: object,
  path: readonly string[],
  values: object,
  reply: Map<string, unknown>,
): object {
  const [key = '', ...rest] = path
  return new Proxy(client, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (name !== key) return member
      if (rest.length > 0) return withInput(member as object, rest, values, reply)
      return (input?: object) => (member as Call)({ ...input, ...values }, { context: { reply } })
    },
  })
}

/** The items of a list: the output, or the only list in the output. */
function itemsOf(output: unknown): unknown[] {
  const members: unknown[] = Object.values(output as object)
  const [list, other] = Array.isArray(output) ? [output] : members.filter((value) => Array.isArray(value))
  if (!list || other) throw new Error('The output of a list must contain one list')
  return list
}

/** Reads a list in pages of one item. Returns the complete list, and the items of each page. */
export async function readPages(scene: Scene, cases: AnyCases, { name, path, meta }: Declared) {
  const { running, connect, people } = scene
  // A second set of rows, so that the list has several items. With another text, because texts can be unique.
  const fixture = await scene.prepare(people, `text-${crypto.randomUUID()}`)
  const client = connect(running, { cookie: callerOf(scene, meta).cookie })
  const complete = itemsOf(await runCallWith(cases, name, client, fixture))
  const pages: unknown[][] = []
  let cursor: string | undefined
  do {
    const reply = new Map<string, unknown>()
    const values = { limit: 1, ...(cursor !== undefined && { cursor }) }
    pages.push(itemsOf(await runCallWith(cases, name, withInput(client, path, values, reply), fixture)))
    cursor = nextCursor(reply.get('link'))
  } while (cursor !== undefined && pages.length <= complete.length)
  return { complete, pages }
}
