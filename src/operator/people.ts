import { findByEmail } from '../../db/auth.ts'
import type { Database } from '../../db/database.ts'

/** The person who has an address. */
export async function getPersonByEmail(db: Database, address: string) {
  const email = address.trim().toLowerCase()
  const person = await findByEmail(db, email)
  if (!person) throw new Error(`Nobody has the address ${email}. An account is made by its first sign-in.`)
  return person
}
