import { engineContract, type LiveUpdateOf } from 'tallystick-contract'

import { counter, counterTopic } from './counter.ts'
import { legacyNotes } from './legacy-notes.ts'
import { notes, notesExport, notesTopic } from './notes.ts'
import { reservations } from './reservations.ts'
import { tasks, tasksExport, tasksTopic } from './tasks.ts'

/** The parts of the export of an account, by the name of the resource, in the order of the export. */
export const exportParts = { tasks: tasksExport, notes: notesExport }

const { status, account, sessions, live, apps, tokens, audit } = engineContract({
  topics: [counterTopic, tasksTopic, notesTopic],
  exportParts,
})

/** The order is the order of the OpenAPI document, and of the tools for agents. */
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

/** A topic with its current state. */
export type LiveUpdate = LiveUpdateOf<Contract>

export type TopicName = LiveUpdate['topic']
