import { account } from './account.ts'
import { apps } from './apps.ts'
import { audit } from './audit.ts'
import { counter } from './counter.ts'
import { legacyNotes } from './legacy-notes.ts'
import { live } from './live.ts'
import { notes } from './notes.ts'
import { reservations } from './reservations.ts'
import { sessions } from './sessions.ts'
import { status } from './status.ts'
import { tasks } from './tasks.ts'
import { tokens } from './tokens.ts'

export const contract = {
  status,
  account,
  counter,
  tasks,
  notes,
  legacyNotes,
  sessions,
  reservations,
  live,
  apps,
  tokens,
  audit,
}

export type Contract = typeof contract
