import { and, eq, inArray, or, sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'

import { createdAt, timestamptz, updatedAt } from './columns.ts'
import type { Database } from './database.ts'
import { requireRow } from './statements.ts'

// The tables of better-auth, which asks its own questions of them. Names are its own, in the plural.

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

/** The column of every row that belongs to a person, and goes with them. */
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

/** Unused: an instance of an earlier release may still count here during a rolling upgrade. */
export const rateLimits = pgTable('rate_limits', {
  id: text().primaryKey(),
  key: text().notNull().unique(),
  count: integer().notNull(),
  lastRequest: bigint({ mode: 'number' }).notNull(),
})

/** Makes a person an administrator if the address is among those given. Answers whether that changed the role. */
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

/** The person that an id or an address stands for. */
export const findId = async (db: Database, id = '', email = '') =>
  (
    await db
      .select({ id: users.id })
      .from(users)
      .where(or(eq(users.id, id), eq(users.email, email.toLowerCase())))
  ).at(0)?.id ?? null

/**
 * Locks the row of a person until the transaction ends. A deletion locks the person before sessions and codes, so whatever
 * changes those and writes to the audit trail does the same: otherwise both could wait for each other.
 */
export const lockPerson = (tx: Database, id: string | null) =>
  tx
    .select({ id: users.id })
    .from(users)
    .where(eq(users.id, id ?? ''))
    .for('no key update')

/** The addresses of people, by id. */
export async function findEmails(db: Database, ids: (string | null)[]) {
  const known = ids.filter((id) => id !== null)
  const found = await db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(inArray(users.id, known))
  return new Map(found.map(({ id, email }) => [id, email]))
}

/** Whether a sign-in code was sent to an address and is not used up. */
export const hasUnusedCode = async (db: Database, email: string) =>
  (
    await db
      .select({ id: verifications.id })
      .from(verifications)
      .where(eq(verifications.identifier, codeIdentifier(email)))
      .limit(1)
  ).length > 0

/** How better-auth names the sign-in code of an address. */
export const codeIdentifier = (email: string) => `sign-in-otp-${email.toLowerCase()}`

export const findByEmail = async (db: Database, email: string) =>
  (await db.select().from(users).where(eq(users.email, email))).at(0)

/** The person who has an address, made if nobody has. In a transaction, others who ask for them wait. */
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
