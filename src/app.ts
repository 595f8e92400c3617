import type { DataOf } from '../contract/account.ts'
import { type Contract, exportParts } from '../contract/index.ts'
import type { PersonalData } from '../db/personal-data.ts'
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
import { defineApp } from './define-app.ts'
import type { Resource } from './resource.ts'

type Parts = typeof exportParts

/** The resources of the contract. A resource has personal data if and only if the export has a part for the resource. */
type Declared = {
  [Name in keyof Contract]: Resource &
    (Name extends keyof Parts
      ? { personalData: PersonalData<DataOf<Parts[Name]>> }
      : { personalData?: never })
}

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
} satisfies Declared

export const app = defineApp({ resources, exportParts })
