import { and, type AnyColumn, eq, inArray, or, sql } from 'drizzle-orm'
import { alias, bigint, boolean, index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'

import { createdAt, timestamptz, updatedAt } from '../columns.ts'
import type { Database } from '../connection/database.ts'
import { requireRow } from '../statements.ts'

// Tables of the library better-auth. better-auth runs its own queries on these tables and expects these table names:
// the plurals of its model names.

export const users = pgTable('users', {
  id: text().primaryKey(),
  name: text().notNull(),
  email: text().notNull().unique(),
  emailVerified: boolean().notNull().default(false),
  image: text(),
  role: text(),
  banned: boolean(),
  banReason: text(),
  banExpires: timestamptz(),
  createdAt,
  updatedAt,
})

/**
 * A person, as other tables refer to the person: by the id, or by the e-mail address.
 *
 * @example
 * const ownedBy = (person: Person) => eq(books.userId, person.id)
 */
export type Person = Pick<typeof users.$inferSelect, 'id' | 'email'>

/**
 * Foreign key to the person that a row belongs to. Deleting the person deletes the row.
 *
 * @example
 * pgTable('books', { userId: userIdColumn() })
 */
export const userIdColumn = () =>
  text()
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' })

/**
 * The providers that people have connected. The columns for tokens and passwords stay empty: better-auth expects them, and the engine
 * stores neither.
 */
export const accounts = pgTable(
  'accounts',
  {
    id: text().primaryKey(),
    accountId: text().notNull(),
    providerId: text().notNull(),
    userId: userIdColumn(),
    accessToken: text(),
    refreshToken: text(),
    idToken: text(),
    accessTokenExpiresAt: timestamptz(),
    refreshTokenExpiresAt: timestamptz(),
    scope: text(),
    password: text(),
    createdAt,
    updatedAt,
  },
  (table) => [index().on(table.userId), uniqueIndex().on(table.providerId, table.accountId)],
)

/** Selects the connections of a person with providers, oldest first, without the id of the person at the provider. */
export const listConnections = (db: Database, userId: string) =>
  db
    .select({ provider: accounts.providerId, createdAt: accounts.createdAt })
    .from(accounts)
    .where(eq(accounts.userId, userId))
    .orderBy(accounts.createdAt, accounts.id)

/** Removes the connection of a person with a provider. Returns undefined if the person has no such connection. */
export const disconnect = async (db: Database, userId: string, id: string) =>
  (
    await db
      .delete(accounts)
      .where(and(eq(accounts.userId, userId), eq(accounts.id, id)))
      .returning({ providerId: accounts.providerId })
  ).at(0)

export const verifications = pgTable(
  'verifications',
  {
    id: text().primaryKey(),
    identifier: text().notNull(),
    value: text().notNull(),
    expiresAt: timestamptz().notNull(),
    createdAt,
    updatedAt,
  },
  (table) => [index().on(table.identifier)],
)

/** This release only deletes old rows. During a rolling upgrade, an earlier release may still write to this table. */
export const legacyRateLimits = pgTable('rate_limits', {
  id: text().primaryKey(),
  key: text().notNull().unique(),
  count: integer().notNull(),
  lastRequest: bigint({ mode: 'number' }).notNull(),
})

/**
 * Makes a person an administrator if `emails` contains the person's address, and the address is verified. Returns whether the role
 * changed.
 */
export const promote = async (db: Database, userId: string, emails: string[]) =>
  (
    await db
      .update(users)
      .set({ role: 'admin' })
      .where(
        and(
          eq(users.id, userId),
          eq(users.emailVerified, true),
          inArray(users.email, emails),
          sql`${users.role} is distinct from 'admin'`,
        ),
      )
      .returning({ id: users.id })
  ).length > 0

/** Returns the id of the person with the given id or e-mail address, or null if there is no such person. */
export const findId = async (db: Database, id = '', email = '') =>
  (
    await db
      .select({ id: users.id })
      .from(users)
      .where(or(eq(users.id, id), eq(users.email, email.toLowerCase())))
  ).at(0)?.id ?? null

/** Returns the id of the person with the given e-mail address, or null if there is no such person. */
export const findIdByEmail = (db: Database, email: string) => findId(db, '', email) // no account has the empty id

/**
 * Locks the row of a person until the transaction ends. Deleting a person locks this row before any other row. A
 * transaction that writes to the audit trail must therefore call this function before it changes sessions or codes.
 * Otherwise, the transaction and a concurrent deletion can cause a deadlock.
 */
export const lockPerson = (tx: Database, id: string | null) =>
  tx
    .select({ id: users.id })
    .from(users)
    .where(eq(users.id, id ?? ''))
    .for('no key update')

/** Returns a map from ids of people to their e-mail addresses. Omits ids that do not exist. */
export async function findEmails(db: Database, ids: (string | null)[]) {
  const present = ids.filter((id) => id !== null)
  const rows = await db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(inArray(users.id, present))
  return new Map(rows.map(({ id, email }) => [id, email]))
}

/** Returns a map from e-mail addresses to the names of their accounts. Omits addresses without an account. */
export async function findNames(db: Database, emails: readonly string[]) {
  if (emails.length === 0) return new Map<string, string>()
  const rows = await db
    .select({ email: users.email, name: users.name })
    .from(users)
    .where(inArray(users.email, [...emails]))
  return new Map(rows.map(({ email, name }) => [email, name]))
}

/**
 * Another name of the table, so that a statement can also select from the table itself. The expressions below are nested, because
 * Drizzle removes the names of tables from the columns of an expression in a select from one table.
 */
const people = alias(users, '_people')

/**
 * The name of the account whose id a column contains, for the select of `listOf`. Who may see a row then sees this name: set
 * `membersSeeNames` of `startPage`.
 *
 * @example
 * db.select({ id: comments.id, text: comments.text, author: nameOf(comments.userId) }).from(comments)
 */
export const nameOf = (column: AnyColumn) =>
  sql<string>`(${sql`select ${people.name} from ${users} as ${people} where ${people.id} = ${column}`})`

/**
 * The e-mail address of the account whose id a column contains, for the select of `listOf`.
 *
 * @example
 * db.select({ id: projects.id, name: projects.name, owner: emailOf(projects.userId) }).from(projects)
 */
export const emailOf = (column: AnyColumn) =>
  sql<string>`(${sql`select ${people.email} from ${users} as ${people} where ${people.id} = ${column}`})`

/**
 * Returns whether the database contains a sign-in code for an e-mail address. An expired code counts until housekeeping
 * removes the code.
 */
export const hasUnusedCode = async (db: Database, email: string) =>
  (
    await db
      .select({ id: verifications.id })
      .from(verifications)
      .where(eq(verifications.identifier, codeIdentifier(email)))
      .limit(1)
  ).length > 0

/** Returns the identifier under which better-auth stores the sign-in code for an e-mail address. */
export const codeIdentifier = (email: string) => `sign-in-otp-${email.toLowerCase()}`

export const findByEmail = async (db: Database, email: string) =>
  (await db.select().from(users).where(eq(users.email, email))).at(0)

/** Lists the addresses of people. Omits people that do not exist. */
export const listEmails = (db: Database, ids: readonly string[]) =>
  db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(inArray(users.id, [...ids]))

/**
 * Returns the person with this e-mail address, or creates the person, by default with a new id. Locks the row until the transaction
 * ends.
 */
export const findOrCreate = async (
  db: Database,
  person: Pick<typeof users.$inferInsert, 'email' | 'name'> & { id?: string },
) =>
  requireRow(
    await db
      .insert(users)
      .values({ id: v7(), role: 'user', ...person })
      .onConflictDoUpdate({ target: users.email, set: { email: person.email } })
      .returning(),
  )

export const listAdmins = (db: Database) =>
  db.select().from(users).where(eq(users.role, 'admin')).orderBy(users.email)

export const setRole = (db: Database, userId: string, role: 'admin' | 'user') =>
  db.update(users).set({ role }).where(eq(users.id, userId))
