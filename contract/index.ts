import { appContract, type LiveUpdateOf } from 'tallystick-contract'

import { counter } from './counter.ts'
import { legacyNotes } from './legacy-notes.ts'
import { notes } from './notes.ts'
import { reservations } from './reservations.ts'
import { tasks } from './tasks.ts'

/** The order is the order of the OpenAPI document, and of the tools for agents. */
export const contract = appContract(
  { counter, tasks, notes, legacyNotes, reservations },
  { order: ['status', 'account', 'counter', 'tasks', 'notes', 'legacyNotes', 'sessions', 'reservations'] },
)

export type Contract = typeof contract

/** A topic with its current state. */
export type LiveUpdate = LiveUpdateOf<Contract>

export type TopicName = LiveUpdate['topic']
