import { and, eq, like } from 'drizzle-orm'

import { users } from '../../engine/db/accounts/users.ts'
import { counter } from '../../db/counter.ts'
import type { Database } from '../../engine/db/connection/database.ts'
import { open } from '../../db/index.ts'
import { notes, shares } from '../../db/notes.ts'
import { tasks } from '../../db/tasks.ts'
import type { Actor, ActorContext } from './actors.ts'

/** Reads the rows of one actor in the format of the expected rows. */
async function readRows(db: Database, { id, friendEmail }: Actor) {
  const taskRows = await db.select().from(tasks).where(eq(tasks.userId, id))
  const noteRows = await db
    .select({ title: notes.title, text: notes.body, role: shares.role })
    .from(notes)
    .leftJoin(shares, and(eq(shares.noteId, notes.id), eq(shares.email, friendEmail)))
    .where(eq(notes.userId, id))
  return {
    tasks: taskRows.map(({ title, description }) => ({ title, text: description ?? '' })),
    notes: noteRows.map(({ role, ...note }) => ({ ...note, role: role ?? ('none' as const) })),
  }
}

/** Reads the rows that still contain the marker of a deleted account. */
const readRemainingRows = async (db: Database, { marker }: Actor) => [
  ...(await db
    .select({ title: users.email })
    .from(users)
    .where(like(users.email, `${marker}%`))),
  ...(await db
    .select({ title: tasks.title })
    .from(tasks)
    .where(like(tasks.title, `${marker}%`))),
  ...(await db
    .select({ title: notes.title })
    .from(notes)
    .where(like(notes.title, `${marker}%`))),
]

/** Compares the expected rows of all actors with the final state of the database. */
export async function verifyActors(
  url: string,
  actors: readonly Actor[],
  deleted: readonly Actor[],
  { increments }: ActorContext,
) {
  const { db, close } = await open(url)
  const differences = []
  for (const actor of actors) {
    const rows = await readRows(db, actor)
    differences.push(actor.tasks.compare(rows.tasks), actor.notes.compare(rows.notes))
  }
  const remaining = (await Promise.all(deleted.map((actor) => readRemainingRows(db, actor)))).flat()
  const [{ count } = { count: NaN }] = await db.select().from(counter)
  await close()

  const { values, unanswered } = increments
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
  return {
    lost: sum(differences.map(({ lost }) => lost)) + Math.max(0, Math.max(0, ...values) - count),
    doubled:
      sum(differences.map(({ doubled }) => doubled)) +
      (values.length - new Set(values).size) +
      Math.max(0, count - values.length - unanswered),
    wrong: [
      ...differences.flatMap(({ wrong }) => wrong),
      ...remaining.map(({ title }) => `${title} remains`),
    ],
  }
}
