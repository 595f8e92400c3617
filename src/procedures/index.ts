import type { DataOf } from '../../contract/account.ts'
import { type Contract, type ExportedData, exportParts } from '../../contract/index.ts'
import { combine, type PersonalData } from '../../db/personal-data.ts'
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

type Parts = typeof exportParts

/** The resources of the contract. A resource has personal data if and only if the export has a part for the resource. */
type Declared = {
  [Name in keyof Contract]: Resource &
    (Name extends keyof Parts
      ? { personalData: PersonalData<DataOf<Parts[Name]>> }
      : { personalData?: never })
}

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
} satisfies Declared

type Procedures<All extends Resources> = { [Name in keyof All]: All[Name]['procedures'] }

const proceduresOf = <All extends Resources>(all: All) =>
  Object.fromEntries(
    Object.entries<Resource>(all).map(([name, { procedures }]) => [name, procedures]),
  ) as Procedures<All>

export const router = implementer.router(proceduresOf(resources))

/** The personal data of all resources, in the order of the export. Because of `Declared`, no part is missing. */
export const personalData = combine(
  Object.keys(exportParts).flatMap((name) => (resources as Resources)[name]?.personalData ?? []),
) as PersonalData<ExportedData>
