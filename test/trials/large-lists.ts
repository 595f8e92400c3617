import { sql } from 'drizzle-orm'

import { findOrCreate } from '../../engine/db/accounts/users.ts'
import type { Database } from '../../engine/db/connection/database.ts'
import { open } from '../../db/index.ts'

/**
 * Length of a text that the service no longer accepts. Databases may contain such texts, because an earlier release did
 * not limit the length of texts.
 */
const UNBOUNDED = 1_000_000

/** A list of the maximum size, and the e-mail address of its owner. */
export interface LargeList {
  email: string
  path: string
  headers?: Record<string, string>
}

const FIRST_FORM = { accept: 'application/json;version=1' }
const EVENTS = { 'datastar-request': 'true' }

export const largeLists: LargeList[] = [
  { email: 'latin@example.com', path: '/api/tasks' },
  { email: 'emoji@example.com', path: '/api/tasks' },
  { email: 'control@example.com', path: '/api/tasks' },
  { email: 'emoji@example.com', path: '/api/notes' },
  { email: 'emoji@example.com', path: '/api/notes', headers: FIRST_FORM },
  { email: 'emoji@example.com', path: '/api/notes', headers: EVENTS },
  { email: 'recipient@example.com', path: '/api/notes' },
  { email: 'unbounded@example.com', path: '/api/notes' },
]

/**
 * Creates the rows for `largeLists`. Each text repeats one character, which takes one byte (x), four bytes (emoji) or
 * six bytes (control character) in JSON.
 */
export async function createLargeLists(url: string) {
  const { db, close } = await open(url)
  const idOf = async (name: string) => (await findOrCreate(db, { email: `${name}@example.com`, name })).id
  for (const [name, character] of Object.entries({ latin: 'x', emoji: '😀', control: '\u0001' })) {
    const id = await idOf(name)
    await addTasks(db, id, 1000, [character.repeat(500), character.repeat(10_000)])
    await addNotes(db, id, 1000, [character.repeat(120), character.repeat(4000)])
  }
  await share(db, 'emoji', 560, 'recipient@example.com')
  const author = await idOf('author')
  for (let added = 0; added < 560; added += 40)
    await addNotes(db, author, 40, ['x'.repeat(120), 'x'.repeat(UNBOUNDED)])
  await share(db, 'author', 560, 'unbounded@example.com')
  await close()
}

type Texts = [title: string, body: string]

const addTasks = (db: Database, userId: string, count: number, [title, description]: Texts) =>
  db.execute(sql`
    insert into tasks (user_id, title, description)
    select ${userId}, ${title}, ${description} from generate_series(1, ${count}::int)`)

const addNotes = (db: Database, userId: string, count: number, [title, body]: Texts) =>
  db.execute(sql`
    insert into notes (uuid, user_id, title, body)
    select gen_random_uuid(), ${userId}, ${title}, ${body} from generate_series(1, ${count}::int)`)

/** Shares `count` notes of the person `name` with the address `email`. */
const share = (db: Database, name: string, count: number, email: string) =>
  db.execute(sql`
    insert into note_shares (note_id, email, role)
    select notes.id, ${email}, 'reader' from notes join users on users.id = notes.user_id
    where users.email = ${`${name}@example.com`} limit ${count}::int`)
