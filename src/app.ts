import { defineApp } from 'tallystick'

import { contract } from '../contract/index.ts'
import { migrationsFolder } from '../db/index.ts'
import { counter } from './counter.ts'
import { legacyNotes } from './legacy-notes.ts'
import { notes } from './notes.ts'
import { reservations } from './reservations.ts'
import { tasks } from './tasks.ts'

export const app = defineApp({
  name: 'Tallystick',
  // The prefix of the first release: another prefix would end all sessions.
  cookiePrefix: 'better-auth',
  version: '1.0.0',
  license: 'MIT',
  description: 'A shared counter, tasks, notes and sessions.',
  contract,
  migrationsFolder,
  resources: { counter, tasks, notes, legacyNotes, reservations },
})
