import { contract, exportParts } from '../contract/index.ts'
import { migrationsFolder } from '../db/index.ts'
import { defineApp } from './define-app.ts'
import { counter } from './procedures/counter.ts'
import { legacyNotes } from './procedures/legacy-notes.ts'
import { notes } from './procedures/notes.ts'
import { reservations } from './procedures/reservations.ts'
import { tasks } from './procedures/tasks.ts'
import { resourceNames } from './texts.ts'

export const app = defineApp({
  name: 'Tallystick',
  version: '1.0.0',
  license: 'MIT',
  description: 'A shared counter, tasks, notes and sessions.',
  contract,
  migrationsFolder,
  exportParts,
  resourceNames,
  resources: { counter, tasks, notes, legacyNotes, reservations },
})
