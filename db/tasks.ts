import { and, desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core'
import {
  type AcceptedVersions,
  coalesced,
  createdAt,
  type Database,
  hasAcceptedVersion,
  isAfterPosition,
  isConstraintViolation,
  limitBytes,
  listConnections,
  pageParameters,
  type PageRequest,
  type Person,
  prepared,
  requireRow,
  type SizedRow,
  updatedAt,
  updatedIfChanged,
  userIdColumn,
  version,
} from 'tallystick/db'

export const tasks = pgTable(
  'tasks',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    userId: userIdColumn(),
    title: text().notNull(),
    description: text(),
    status: text({ enum: ['pending', 'in_progress', 'completed'] })
      .notNull()
      .default('pending'),
    createdAt,
    updatedAt,
    version,
  },
  (table) => [
    index().on(table.userId, table.createdAt, table.id),
    index().on(table.userId, table.status, table.createdAt, table.id),
  ],
)

/**
 * The number of tasks of each person. The triggers in migrations/0002_growth.sql update this table. Without this table,
 * a list would count all tasks: 30 ms for 100,000 tasks.
 */
export const taskCounts = pgTable('task_counts', {
  userId: userIdColumn().primaryKey(),
  pending: bigint({ mode: 'number' }).notNull(),
  inProgress: bigint({ mode: 'number' }).notNull(),
  completed: bigint({ mode: 'number' }).notNull(),
})

export type TaskRow = typeof tasks.$inferSelect
type Status = TaskRow['status']

const owned = (userId: string, id: number) => and(eq(tasks.userId, userId), eq(tasks.id, id))

const ofPerson = eq(tasks.userId, sql.placeholder('userId'))
const ofStatus = and(ofPerson, eq(tasks.status, sql.placeholder('status')))

const { version: _, userId: __, ...listable } = getTableColumns(tasks)

export type ListedTask = Omit<TaskRow, 'version' | 'userId'>

const texts = [tasks.title, tasks.description]
const order = [desc(tasks.createdAt), desc(tasks.id)]

const prepareList = (name: string, condition: SQL | undefined, isSearch = false) =>
  prepared((db) => {
    const rows = db
      .select(listable)
      .from(tasks)
      .where(and(condition, isAfterPosition(tasks.createdAt, tasks.id)))
      .orderBy(...order)
      .limit(sql.placeholder('limit'))
      .as('tasks')
    return limitBytes(db, rows, listable, { texts, order, isSearch }).prepare(name)
  })
const listAll = prepareList('tasks_list', ofPerson)
const listByStatus = prepareList('tasks_list_by_status', ofStatus)
const searchAll = prepareList('tasks_search', ofPerson, true)
const searchByStatus = prepareList('tasks_search_by_status', ofStatus, true)

/** Lists the tasks of a person, or only those with a status. */
export function list(
  db: Database,
  userId: string,
  page: PageRequest,
  status?: Status,
): Promise<SizedRow<ListedTask>[]> {
  const [ofAll, ofStatus] = page.q ? [searchAll, searchByStatus] : [listAll, listByStatus]
  const statement = (status ? ofStatus : ofAll)(listConnections(db))
  return statement.execute({ userId, status, ...pageParameters(page) })
}

/** The queries of an export. */
export const exportQueries = (db: Database, { id }: Person) => ({
  tasks: db
    .select()
    .from(tasks)
    .where(eq(tasks.userId, id))
    .orderBy(...order),
})

export const listTitles = (db: Database, userId: string) =>
  db.select({ title: tasks.title }).from(tasks).where(eq(tasks.userId, userId))

const selectCounts = prepared((db) =>
  db
    .select({
      pending: taskCounts.pending,
      in_progress: taskCounts.inProgress,
      completed: taskCounts.completed,
    })
    .from(taskCounts)
    .where(eq(taskCounts.userId, sql.placeholder('userId')))
    .prepare('tasks_count'),
)

/** Counts all tasks of a person, or only those with a status. */
export async function countAll(db: Database, userId: string, status?: Status) {
  const [counts = { pending: 0, in_progress: 0, completed: 0 }] = await selectCounts(db).execute({ userId })
  return status ? counts[status] : counts.pending + counts.in_progress + counts.completed
}

const selectOne = prepared((db) =>
  db
    .select()
    .from(tasks)
    .where(and(eq(tasks.userId, sql.placeholder('userId')), eq(tasks.id, sql.placeholder('id'))))
    .prepare('tasks_find'),
)

export const find = async (db: Database, userId: string, id: number) =>
  (await selectOne(db).execute({ userId, id })).at(0)

type NewTask = Pick<TaskRow, 'userId' | 'title' | 'description'>

/** Maximum number of statements that insert tasks at the same time. */
const MAX_CONCURRENT_INSERTS = 4

/** Maximum number of tasks in one statement. */
const MAX_INSERTED = 32

/**
 * A second object for the table, with only the columns of a new row: `insert … select` of Drizzle would otherwise need a
 * value for every column. The names are explicit, because Drizzle derives the names of columns from the first object
 * with the name of a table.
 */
const insertable = pgTable('tasks', {
  userId: text('user_id'),
  title: text('title'),
  description: text('description'),
})

const array = (name: string) => sql`${sql.placeholder(name)}::text[]`

/** Inserts the rows of three arrays of the same length. The rows of the result have the order of the arrays. */
const insertArrays = prepared((db) =>
  db
    .insert(insertable)
    .select(
      sql`select user_id, title, description
      from unnest(${array('userIds')}, ${array('titles')}, ${array('descriptions')})
      with ordinality as new (user_id, title, description, position)
      order by position`,
    )
    .returning(getTableColumns(tasks))
    .prepare('tasks_insert'),
)

const insertAll = (db: Database, newTasks: readonly NewTask[]) =>
  insertArrays(db).execute({
    userIds: newTasks.map(({ userId }) => userId),
    titles: newTasks.map(({ title }) => title),
    descriptions: newTasks.map(({ description }) => description),
  })

/**
 * Combines the inserts of concurrent callers into one statement with one commit. If a row violates a constraint,
 * inserts each row separately, so that only the callers of invalid rows receive an error.
 */
const inserts = coalesced(
  MAX_CONCURRENT_INSERTS,
  async (db, newTasks: readonly NewTask[]): Promise<(TaskRow | Error)[]> => {
    try {
      return await insertAll(db, newTasks)
    } catch (error) {
      if (!isConstraintViolation(error)) throw error
      return Promise.all(
        newTasks.map((task) => insertAll(db, [task]).then(requireRow, (error: unknown) => error as Error)),
      )
    }
  },
  MAX_INSERTED,
)

export const insert = (
  db: Database,
  userId: string,
  { title, description = null }: { title: string; description?: string | null },
) => inserts(db).load({ userId, title, description })

export const update = async (
  db: Database,
  userId: string,
  id: number,
  changes: {
    title?: string
    description?: string | null
    status?: Status
  },
  versions: AcceptedVersions = 'any',
) =>
  (
    await db
      .update(tasks)
      .set({ ...changes, ...updatedIfChanged(tasks, changes) })
      .where(and(owned(userId, id), hasAcceptedVersion(tasks.version, versions)))
      .returning()
  ).at(0)

/** Returns whether a task was deleted. */
export const remove = async (db: Database, userId: string, id: number, versions: AcceptedVersions = 'any') =>
  (
    await db
      .delete(tasks)
      .where(and(owned(userId, id), hasAcceptedVersion(tasks.version, versions)))
      .returning({ id: tasks.id })
  ).length > 0

export const clear = (db: Database, userId: string) => db.delete(tasks).where(eq(tasks.userId, userId))
