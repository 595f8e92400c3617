import { and, eq, inArray, or, sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'

import { createdAt, timestamptz, updatedAt } from './columns.ts'
import type { Database } from './database.ts'
import { requireRow } from './statements.ts'

// The tables of better-auth, which runs its own queries. The table names are the plurals of better-auth's model names.

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

/** Column of rows that belong to a person. Deleting the person deletes the rows. */
export const userId = () =>
  text()
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' })

export const accounts = pgTable(
  'accounts',
  {
    id: text().primaryKey(),
    accountId: text().notNull(),
    providerId: text().notNull(),
    userId: userId(),
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
  (table) => [index().on(table.userId)],
)

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

/** Not used by this release. Instances of an earlier release may still write to this table during a rolling upgrade. */
export const rateLimits = pgTable('rate_limits', {
  id: text().primaryKey(),
  key: text().notNull().unique(),
  count: integer().notNull(),
  lastRequest: bigint({ mode: 'number' }).notNull(),
})

/** Makes a person an administrator if `emails` contains the person's address. Returns whether the role changed. */
export const promote = async (db: Database, userId: string, emails: string[]) =>
  (
    await db
      .update(users)
      .set({ role: 'admin' })
      .where(
        and(eq(users.id, userId), inArray(users.email, emails), sql`${users.role} is distinct from 'admin'`),
      )
      .returning({ id: users.id })
  ).length > 0

/** Returns the id of the person with an id or e-mail address, or null. */
export const findId = async (db: Database, id = '', email = '') =>
  (
    await db
      .select({ id: users.id })
      .from(users)
      .where(or(eq(users.id, id), eq(users.email, email.toLowerCase())))
  ).at(0)?.id ?? null

/**
 * Locks the row of a person until the transaction ends. A deletion locks the person first. To avoid deadlocks with a
 * deletion, a transaction that writes to the audit trail must call this function before changing sessions or codes.
 */
export const lockPerson = (tx: Database, id: string | null) =>
  tx
    .select({ id: users.id })
    .from(users)
    .where(eq(users.id, id ?? ''))
    .for('no key update')

/** Returns e-mail addresses by the id of the person. */
export async function findEmails(db: Database, ids: (string | null)[]) {
  const present = ids.filter((id) => id !== null)
  const rows = await db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(inArray(users.id, present))
  return new Map(rows.map(({ id, email }) => [id, email]))
}

/** Returns whether a sign-in code for an e-mail address exists. Expired codes count until they are removed. */
export const hasUnusedCode = async (db: Database, email: string) =>
  (
    await db
      .select({ id: verifications.id })
      .from(verifications)
      .where(eq(verifications.identifier, codeIdentifier(email)))
      .limit(1)
  ).length > 0

/** The identifier of an address's sign-in code in better-auth. */
export const codeIdentifier = (email: string) => `sign-in-otp-${email.toLowerCase()}`

export const findByEmail = async (db: Database, email: string) =>
  (await db.select().from(users).where(eq(users.email, email))).at(0)

/** Returns the person with an e-mail address, and creates the person if necessary. Locks the row until commit. */
export const findOrCreate = async (db: Database, person: Pick<typeof users.$inferInsert, 'email' | 'name'>) =>
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
