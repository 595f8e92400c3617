import { insert, OPERATOR } from '../../db/accounts/audit.ts'
import { listAdmins, setRole } from '../../db/accounts/users.ts'
import type { Database } from '../../db/connection/database.ts'
import { endImpersonations } from '../../db/accounts/sessions.ts'
import { getPersonByEmail } from './people.ts'
import { withDatabase, type CommandContext } from '../command-context.ts'

export const grant = (context: CommandContext, address: string) =>
  withDatabase(context, async (db) => {
    const { id, email } = await getPersonByEmail(db, address)
    await changeRole(db, id, 'admin')
    context.print(`${email} is now an administrator.`)
  })

export const revoke = (context: CommandContext, address: string) =>
  withDatabase(context, async (db, { adminEmails }) => {
    const { id, email } = await getPersonByEmail(db, address)
    await changeRole(db, id, 'user')
    context.print(`${email} is no longer an administrator.`)
    if (adminEmails.includes(email))
      context.print(
        `The next sign-in makes ${email} an administrator again. To prevent this, remove the address from ADMIN_EMAILS.`,
      )
  })

/** Changes the role of a person. In the same transaction, ends the impersonations that the new role does not permit. */
const changeRole = (db: Database, id: string, role: 'admin' | 'user') =>
  db.transaction(async (tx) => {
    await setRole(tx, id, role)
    await endImpersonations(tx, id)
    await insert(tx, {
      ...OPERATOR,
      action: 'admin.set-role',
      outcome: 'accepted',
      subject: id,
      detail: role,
    })
  })

/** Prints the administrators, and the addresses in ADMIN_EMAILS that become administrators at their next sign-in. */
export const list = (context: CommandContext) =>
  withDatabase(context, async (db, { adminEmails }) => {
    const admins = await listAdmins(db)
    for (const { email, name } of admins) context.print(`${email}  ${name}`.trimEnd())
    const adminAddresses = new Set(admins.map(({ email }) => email))
    for (const email of adminEmails.filter((email) => !adminAddresses.has(email)))
      context.print(`${email}  (in ADMIN_EMAILS: administrator from the next sign-in)`)
  })
