import { type Contract, exportParts } from '../contract/index.ts'
import { account } from './procedures/account.ts'
import { apps } from './procedures/apps.ts'
import { audit } from './procedures/audit.ts'
import { counter } from './procedures/counter.ts'
import { legacyNotes } from './procedures/legacy-notes.ts'
import { live } from './procedures/live.ts'
import { notes } from './procedures/notes.ts'
import { reservations } from './procedures/reservations.ts'
import { sessions } from './procedures/sessions.ts'
import { status } from './procedures/status.ts'
import { tasks } from './procedures/tasks.ts'
import { tokens } from './procedures/tokens.ts'
import { defineApp, type ResourcesOf } from './define-app.ts'

const resources = {
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
} satisfies ResourcesOf<Contract, typeof exportParts>

export const app = defineApp({ resources, exportParts })
