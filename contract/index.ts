import type { InferContractRouterOutputs } from '@orpc/contract'

import { accountContract, type DataOfAll } from './account.ts'
import { apps } from './apps.ts'
import { audit } from './audit.ts'
import { counter, counterTopic } from './counter.ts'
import { legacyNotes } from './legacy-notes.ts'
import { liveContract } from './live.ts'
import { notes, notesExport, notesTopic } from './notes.ts'
import { reservations } from './reservations.ts'
import { sessions, sessionsTopic } from './sessions.ts'
import { status } from './status.ts'
import { tasks, tasksExport, tasksTopic } from './tasks.ts'
import { tokens } from './tokens.ts'

/** What `live.watch` can watch. */
export const topics = [counterTopic, tasksTopic, notesTopic, sessionsTopic] as const

export type TopicName = (typeof topics)[number]['name']

/** The parts of the export of an account, by the name of the resource, in the order of the export. */
export const exportParts = { tasks: tasksExport, notes: notesExport }

/** The data of these parts. */
export type ExportedData = DataOfAll<typeof exportParts>

export const contract = {
  status,
  account: accountContract(exportParts),
  counter,
  tasks,
  notes,
  legacyNotes,
  sessions,
  reservations,
  live: liveContract(topics),
  apps,
  tokens,
  audit,
}

/** Describes each resource, for the OpenAPI document. */
export const descriptions: Record<keyof typeof contract, string> = {
  status: 'Whether the service is running.',
  account: 'The account of the signed-in person: its data, the export of its data, and its deletion.',
  counter: 'One counter that everybody shares.',
  tasks: 'The tasks of a person. Nobody else can see them.',
  notes: 'Notes, which their authors can share with readers and editors.',
  legacyNotes: 'Notes in their first form, with integer ids.',
  sessions: 'The sessions of a person on all devices.',
  reservations: 'A demonstration of answers in the language of the caller.',
  live: 'Changes of the other resources, as server-sent events.',
  apps: 'Apps, agents and programs that have access to the account of a person.',
  tokens: 'Access tokens for programs without a browser.',
  audit: 'The audit trail, for administrators.',
}

export type Contract = typeof contract

/** A topic with its current state. */
export type LiveUpdate =
  InferContractRouterOutputs<Contract>['live']['watch'] extends AsyncIterator<infer Update> ? Update : never
