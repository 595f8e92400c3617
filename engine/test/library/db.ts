import { eq, sql } from 'drizzle-orm'
import { bigint, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import {
  coalesced,
  createdAt,
  type Database,
  everybody,
  listOf,
  prepared,
  requireRow,
  rows,
  shared,
  updatedAt,
  userIdColumn,
  version,
} from 'tallystick/db'

export const visits = pgTable('visits', {
  id: integer().primaryKey().default(1),
  count: bigint({ mode: 'number' }).notNull(),
})

export const books = pgTable(
  'books',
  {
    id: text().primaryKey(),
    title: text().notNull(),
    copies: integer().notNull(),
    createdAt,
    updatedAt,
    version,
  },
  (table) => [index().on(table.createdAt, table.id)],
)

export const loans = pgTable(
  'loans',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    userId: userIdColumn(),
    bookId: text()
      .notNull()
      .references(() => books.id),
    remark: text().notNull(),
    createdAt,
    updatedAt,
    version,
  },
  (table) => [index().on(table.userId, table.createdAt, table.id), index().on(table.bookId)],
)

export const shelves = pgTable(
  'shelves',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    userId: userIdColumn(),
    name: text().notNull(),
    createdAt,
    updatedAt,
    version,
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

export const shelfShares = pgTable(
  'shelf_shares',
  {
    shelfId: bigint({ mode: 'number' })
      .notNull()
      .references(() => shelves.id, { onDelete: 'cascade' }),
    email: text().notNull(),
    role: text({ enum: ['editor', 'reader'] }).notNull(),
    createdAt,
  },
  (table) => [
    primaryKey({ columns: [table.shelfId, table.email] }),
    index().on(table.email, table.createdAt, table.shelfId),
  ],
)

// Visits.

const selectVisits = prepared((db) =>
  db
    .select({ count: visits.count })
    .from(visits)
    .where(eq(visits.id, sql.placeholder('id')))
    .prepare('visits_get'),
)

// All callers that share a statement receive the same count.
const reads = coalesced(2, async (db, keys: readonly true[]) => {
  const [row] = await selectVisits(db).execute({ id: 1 })
  return keys.map(() => row?.count ?? 0)
})

export const countVisits = (db: Database) => reads(db).load(true)

export const addVisit = async (db: Database) =>
  requireRow(
    await db
      .insert(visits)
      .values({ count: 1 })
      .onConflictDoUpdate({ target: visits.id, set: { count: sql`${visits.count} + 1` } })
      .returning({ count: visits.count }),
  ).count

// Books.

export const bookRows = listOf('books', {
  visible: rows(books, {
    visible: everybody(),
    create: ['id', 'title', 'copies'],
    update: ['title', 'copies'],
  }),
  select: (db, books) =>
    db
      .select({
        id: books.id,
        title: books.title,
        copies: books.copies,
        createdAt: books.createdAt,
        lent: db.$count(loans, eq(loans.bookId, books.id)),
      })
      .from(books),
})

/** Locks a book, so that concurrent loans of the book wait for each other. */
export const lockBook = async (tx: Database, id: string) =>
  (await tx.select().from(books).where(eq(books.id, id)).for('update')).at(0)

// Loans.

export const loanRows = listOf('loans', {
  visible: rows(loans, { create: ['bookId', 'remark'], update: ['remark'] }),
  select: (db, loans) =>
    db
      .select({
        id: loans.id,
        bookId: loans.bookId,
        title: books.title,
        remark: loans.remark,
        createdAt: loans.createdAt,
      })
      .from(loans)
      .innerJoin(books, eq(books.id, loans.bookId)),
  filter: ['bookId'],
})

export const countLoans = (db: Database, bookId: string) => db.$count(loans, eq(loans.bookId, bookId))

// Shelves.

export const shelfRows = rows(shelves, {
  visible: shared({ members: shelfShares, ownerLeaves: 'delete' }),
  create: ['name'],
  update: ['name'],
})
