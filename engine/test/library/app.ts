import { fileURLToPath } from 'node:url'

import { defineApp } from 'tallystick'

import { books } from './books.ts'
import { contract } from './contract.ts'
import { loans } from './loans.ts'
import { shelves } from './shelves.ts'
import { visits } from './visits.ts'

/** An application for the tests of the engine, with one resource of each kind. */
export const app = defineApp({
  name: 'Test library',
  version: '1.0.0',
  description: 'Visits, books, loans and shelves.',
  contract,
  migrationsFolder: fileURLToPath(new URL('./migrations', import.meta.url)),
  resources: { visits, books, loans, shelves },
})
