import { insert, OPERATOR } from '../../db/audit.ts'
import { listAdmins, setRole } from '../../db/auth.ts'
import type { Database } from '../../db/database.ts'
import { endImpersonations } from '../../db/sessions.ts'
import { getPersonByEmail } from './people.ts'
import { withDatabase, type CommandContext } from './command-context.ts'

export const grant = (shell: CommandContext, address: string) =>
  withDatabase(shell, async (db) => {
    const { id, email } = await getPersonByEmail(db, address)
    await change(db, id, 'admin')
    shell.print(`${email} is an administrator.`)
  })

export const revoke = (shell: CommandContext, address: string) =>
  withDatabase(shell, async (db, { adminEmails }) => {
    const { id, email } = await getPersonByEmail(db, address)
    await change(db, id, 'user')
    shell.print(`${email} is no administrator.`)
    if (adminEmails.includes(email))
      shell.print(`They become one again when they sign in: take ${email} out of ADMIN_EMAILS.`)
  })

const change = (db: Database, id: string, role: 'admin' | 'user') =>
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

/** Those who are, and those who will be when they sign in. */
export const list = (shell: CommandContext) =>
  withDatabase(shell, async (db, { adminEmails }) => {
    const admins = await listAdmins(db)
    for (const { email, name } of admins) shell.print(`${email}  ${name}`.trimEnd())
    const known = new Set(admins.map(({ email }) => email))
    for (const email of adminEmails.filter((email) => !known.has(email)))
      shell.print(`${email}  (in ADMIN_EMAILS: from their next sign-in)`)
  })
