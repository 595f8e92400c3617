import { and, eq, like } from 'drizzle-orm'

import { users } from '../../db/auth.ts'
import { counter } from '../../db/counter.ts'
import type { Database } from '../../db/database.ts'
import { open } from '../../db/index.ts'
import { notes, shares } from '../../db/notes.ts'
import { tasks } from '../../db/tasks.ts'
import type { Person, Scene } from './actors.ts'

/** Rows of one person, as the ledger of the person knows them. */
async function readRows(db: Database, { id, friendEmail }: Person) {
  const kept = await db.select().from(tasks).where(eq(tasks.userId, id))
  const written = await db
    .select({ title: notes.title, text: notes.body, role: shares.role })
    .from(notes)
    .leftJoin(shares, and(eq(shares.noteId, notes.id), eq(shares.email, friendEmail)))
    .where(eq(notes.userId, id))
  return {
    tasks: kept.map(({ title, description }) => ({ title, text: description ?? '' })),
    notes: written.map(({ role, ...note }) => ({ ...note, role: role ?? ('none' as const) })),
  }
}

/** Rows that still name a person whose account was deleted. */
const readRemains = async (db: Database, { mark }: Person) => [
  ...(await db
    .select({ title: users.email })
    .from(users)
    .where(like(users.email, `${mark}%`))),
  ...(await db
    .select({ title: tasks.title })
    .from(tasks)
    .where(like(tasks.title, `${mark}%`))),
  ...(await db
    .select({ title: notes.title })
    .from(notes)
    .where(like(notes.title, `${mark}%`))),
]

/** Compares what people were told with what the database holds in the end. */
export async function reckon(
  url: string,
  people: readonly Person[],
  gone: readonly Person[],
  { steps }: Scene,
) {
  const { db, close } = await open(url)
  const differences = []
  for (const person of people) {
    const rows = await readRows(db, person)
    differences.push(person.tasks.compare(rows.tasks), person.notes.compare(rows.notes))
  }
  const remains = (await Promise.all(gone.map((person) => readRemains(db, person)))).flat()
  const [{ count } = { count: NaN }] = await db.select().from(counter)
  await close()

  const { values, open: unanswered } = steps
  const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0)
  return {
    lost: sum(differences.map(({ lost }) => lost)) + Math.max(0, Math.max(0, ...values) - count),
    doubled:
      sum(differences.map(({ doubled }) => doubled)) +
      (values.length - new Set(values).size) +
      Math.max(0, count - values.length - unanswered),
    wrong: [...differences.flatMap(({ wrong }) => wrong), ...remains.map(({ title }) => `${title} remains`)],
  }
}
