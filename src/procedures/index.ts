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
import { implementer } from '../guard/index.ts'
import type { Resource, Resources } from '../resource.ts'

export const resources = {
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
} satisfies Resources

type Procedures<All extends Resources> = { [Name in keyof All]: All[Name]['procedures'] }

const proceduresOf = <All extends Resources>(all: All) =>
  Object.fromEntries(
    Object.entries<Resource>(all).map(([name, { procedures }]) => [name, procedures]),
  ) as Procedures<All>

export const router = implementer.router(proceduresOf(resources))
