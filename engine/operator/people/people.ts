import { findByEmail } from '../../db/accounts/users.ts'
import type { Database } from '../../db/connection/database.ts'
import { normalizeAddress } from '../../values/mail-address.ts'

/** Throws if no account has the e-mail address. */
export async function getPersonByEmail(db: Database, address: string) {
  const email = normalizeAddress(address).toLowerCase()
  const person = await findByEmail(db, email)
  if (!person)
    throw new Error(
      `No account has the address ${email}. The first sign-in with an address creates its account.`,
    )
  return person
}
