import { and, desc, eq, exists, ne, or, type SQL, sql, type SQLWrapper } from 'drizzle-orm'
import { bigint, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
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
  updatedAt,
  updatedIfChanged,
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
  },
  (table) => [primaryKey({ columns: [table.shelfId, table.email] }), index().on(table.email)],
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

const lent = (db: Database) => sql<number>`${db.$count(loans, eq(loans.bookId, books.id))}`.mapWith(Number)

const selectBooks = (db: Database) =>
  db
    .select({
      id: books.id,
      title: books.title,
      copies: books.copies,
      createdAt: books.createdAt,
      version: books.version,
      lent: lent(db).as('lent'),
    })
    .from(books)

export type BookRow = Awaited<ReturnType<typeof selectBooks>>[number]

const listBooksStatement = prepared((db) => {
  const page = selectBooks(db)
    .where(isAfterPosition(books.createdAt, books.id))
    .orderBy(desc(books.createdAt), desc(books.id))
    .limit(sql.placeholder('limit'))
    .as('page')
  const { id, title, copies, createdAt, version, lent } = page
  return limitBytes(
    db,
    page,
    { id, title, copies, createdAt, version, lent },
    { texts: [title], order: [desc(createdAt), desc(id)] },
  ).prepare('books_list')
})

export const listBooks = (db: Database, page: PageRequest) =>
  listBooksStatement(listConnections(db)).execute(pageParameters(page))

export const findBook = async (db: Database, id: string) =>
  (await selectBooks(db).where(eq(books.id, id))).at(0)

/** Returns undefined if another book has the id. */
export async function insertBook(db: Database, book: typeof books.$inferInsert) {
  try {
    await db.insert(books).values(book)
  } catch (error) {
    if (isConstraintViolation(error)) return undefined
    throw error
  }
  return findBook(db, book.id)
}

export async function updateBook(
  db: Database,
  id: string,
  changes: { title?: string; copies?: number },
  versions: AcceptedVersions = 'any',
) {
  const [row] = await db
    .update(books)
    .set({ ...changes, ...updatedIfChanged(books, changes) })
    .where(and(eq(books.id, id), hasAcceptedVersion(books.version, versions)))
    .returning({ id: books.id })
  return row && findBook(db, row.id)
}

// Loans.

const loanColumns = {
  id: loans.id,
  bookId: loans.bookId,
  title: books.title,
  remark: loans.remark,
  createdAt: loans.createdAt,
}

const selectLoans = (db: Database) =>
  db
    .select({ ...loanColumns, version: loans.version })
    .from(loans)
    .innerJoin(books, eq(books.id, loans.bookId))

export type LoanRow = Awaited<ReturnType<typeof selectLoans>>[number]

const listLoansStatement = prepared((db) => {
  const bookId = sql`${sql.placeholder('bookId')}::text`
  const page = db
    .select(loanColumns)
    .from(loans)
    .innerJoin(books, eq(books.id, loans.bookId))
    .where(
      and(
        eq(loans.userId, sql.placeholder('userId')),
        or(sql`${bookId} is null`, eq(loans.bookId, bookId)),
        isAfterPosition(loans.createdAt, loans.id),
      ),
    )
    .orderBy(desc(loans.createdAt), desc(loans.id))
    .limit(sql.placeholder('limit'))
    .as('page')
  const { id, title, remark, createdAt } = page
  return limitBytes(
    db,
    page,
    { id, bookId: page.bookId, title, remark, createdAt },
    { texts: [title, remark], order: [desc(createdAt), desc(id)] },
  ).prepare('loans_list')
})

export const listLoans = (db: Database, userId: string, page: PageRequest, bookId?: string) =>
  listLoansStatement(listConnections(db)).execute({
    userId,
    bookId: bookId ?? null,
    ...pageParameters(page),
  })

const isLoan = (userId: string, id: number): SQL | undefined =>
  and(eq(loans.userId, userId), eq(loans.id, id))

export const findLoan = async (db: Database, userId: string, id: number) =>
  (await selectLoans(db).where(isLoan(userId, id))).at(0)

/** Locks the book, so that concurrent loans do not exceed the number of copies. */
export const insertLoan = (db: Database, userId: string, bookId: string, remark: string) =>
  db.transaction(async (tx) => {
    const [book] = await tx.select().from(books).where(eq(books.id, bookId)).for('update')
    if (!book) return { refusal: 'noBook' } as const
    if ((await tx.$count(loans, eq(loans.bookId, bookId))) >= book.copies)
      return { refusal: 'noCopy', copies: book.copies } as const
    const inserted = await tx.insert(loans).values({ userId, bookId, remark }).returning({ id: loans.id })
    return { loan: requireRow(await selectLoans(tx).where(isLoan(userId, requireRow(inserted).id))) }
  })

export async function updateLoan(
  db: Database,
  userId: string,
  id: number,
  remark: string,
  versions: AcceptedVersions = 'any',
) {
  const [row] = await db
    .update(loans)
    .set({ remark, ...updatedIfChanged(loans, { remark }) })
    .where(and(isLoan(userId, id), hasAcceptedVersion(loans.version, versions)))
    .returning({ id: loans.id })
  return row && findLoan(db, userId, row.id)
}

export const removeLoan = async (
  db: Database,
  userId: string,
  id: number,
  versions: AcceptedVersions = 'any',
) =>
  (
    await db
      .delete(loans)
      .where(and(isLoan(userId, id), hasAcceptedVersion(loans.version, versions)))
      .returning({ id: loans.id })
  ).length > 0

export const exportLoans = (db: Database, { id }: Person) => ({
  loans: selectLoans(db).where(eq(loans.userId, id)).orderBy(desc(loans.createdAt), desc(loans.id)),
})

// Shelves.

const selectShelves = (db: Database, email: string | SQLWrapper) =>
  db
    .select({
      id: shelves.id,
      userId: shelves.userId,
      name: shelves.name,
      createdAt: shelves.createdAt,
      version: shelves.version,
      role: shelfShares.role,
    })
    .from(shelves)
    .leftJoin(shelfShares, and(eq(shelfShares.shelfId, shelves.id), eq(shelfShares.email, email)))

export type ShelfRow = Awaited<ReturnType<typeof selectShelves>>[number]

const listShelvesStatement = prepared((db) => {
  const page = selectShelves(db, sql.placeholder('email'))
    .where(
      and(
        or(eq(shelves.userId, sql.placeholder('userId')), sql`${shelfShares.role} is not null`),
        isAfterPosition(shelves.createdAt, shelves.id),
      ),
    )
    .orderBy(desc(shelves.createdAt), desc(shelves.id))
    .limit(sql.placeholder('limit'))
    .as('page')
  const { id, userId, name, createdAt, version, role } = page
  return limitBytes(
    db,
    page,
    { id, userId, name, createdAt, version, role },
    { texts: [name], order: [desc(createdAt), desc(id)] },
  ).prepare('shelves_list')
})

export const listShelves = (db: Database, { id: userId, email }: Person, page: PageRequest) =>
  listShelvesStatement(listConnections(db)).execute({ userId, email, ...pageParameters(page) })

export const findShelf = async (db: Database, { email }: Person, id: number) =>
  (await selectShelves(db, email).where(eq(shelves.id, id))).at(0)

/** Condition: the person owns the shelf, or edits the shelf. */
const isEditable = (db: Database, { id: userId, email }: Person, id: number) => {
  const editor = db
    .select({ role: shelfShares.role })
    .from(shelfShares)
    .where(
      and(eq(shelfShares.shelfId, shelves.id), eq(shelfShares.email, email), eq(shelfShares.role, 'editor')),
    )
  return and(eq(shelves.id, id), or(eq(shelves.userId, userId), exists(editor)))
}

/** Locks a shelf that the person may change. */
export const lockShelf = async (tx: Database, person: Person, id: number) =>
  (
    await tx
      .select({ version: shelves.version })
      .from(shelves)
      .where(isEditable(tx, person, id))
      .for('update')
  ).at(0)

export async function insertShelf(db: Database, person: Person, name: string) {
  const rows = await db.insert(shelves).values({ userId: person.id, name }).returning({ id: shelves.id })
  return requireRow(await selectShelves(db, person.email).where(eq(shelves.id, requireRow(rows).id)))
}

export async function renameShelf(db: Database, person: Person, id: number, name: string) {
  await db
    .update(shelves)
    .set({ name, ...updatedIfChanged(shelves, { name }) })
    .where(isEditable(db, person, id))
  return findShelf(db, person, id)
}

export const shareShelf = (
  db: Database,
  person: Person,
  id: number,
  { email, role }: Pick<typeof shelfShares.$inferSelect, 'email' | 'role'>,
) =>
  db.transaction(async (tx) => {
    const [own] = await tx
      .select({ id: shelves.id })
      .from(shelves)
      .where(and(eq(shelves.id, id), eq(shelves.userId, person.id)))
    if (!own) return undefined
    await tx
      .insert(shelfShares)
      .values({ shelfId: id, email, role })
      .onConflictDoUpdate({ target: [shelfShares.shelfId, shelfShares.email], set: { role } })
    return findShelf(tx, person, id)
  })

export const unshareShelf = (db: Database, person: Person, id: number, email: string) =>
  db.transaction(async (tx) => {
    await tx.delete(shelfShares).where(
      and(
        eq(shelfShares.email, email),
        exists(
          tx
            .select({ id: shelves.id })
            .from(shelves)
            .where(
              and(eq(shelves.id, shelfShares.shelfId), eq(shelves.id, id), eq(shelves.userId, person.id)),
            ),
        ),
      ),
    )
    return findShelf(tx, person, id)
  })

/** The owners of the shelves that other people share with the address. */
export const listShelfOwners = async (db: Database, { id, email }: Person) => {
  const rows = await db
    .selectDistinct({ id: shelves.userId })
    .from(shelfShares)
    .innerJoin(shelves, eq(shelves.id, shelfShares.shelfId))
    .where(and(eq(shelfShares.email, email), ne(shelves.userId, id)))
  return rows.map((row) => row.id)
}

export const exportShelves = (db: Database, { id }: Person) => ({
  shelves: db.select().from(shelves).where(eq(shelves.userId, id)).orderBy(desc(shelves.createdAt)),
  shares: db
    .select({ shelfId: shelfShares.shelfId, email: shelfShares.email, role: shelfShares.role })
    .from(shelfShares)
    .innerJoin(shelves, eq(shelves.id, shelfShares.shelfId))
    .where(eq(shelves.userId, id))
    .orderBy(shelfShares.shelfId, shelfShares.email),
})

export const removeShares = (tx: Database, { email }: Person) =>
  tx.delete(shelfShares).where(eq(shelfShares.email, email))
