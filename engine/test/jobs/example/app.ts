import { defineApp } from 'tallystick'

import { app as library } from '../../library/app.ts'
import { contract } from '../../library/contract.ts'
import { books } from '../../library/books.ts'
import { loans } from '../../library/loans.ts'
import { shelves } from '../../library/shelves.ts'
import { visits } from '../../library/visits.ts'
import { closeMonth, remind } from './jobs.ts'

/** The library with the jobs of docs/jobs.md. */
export const app = defineApp({
  name: library.name,
  version: '1.0.0',
  description: 'The library, with jobs.',
  contract,
  migrationsFolder: library.migrationsFolder,
  resources: { visits, books, loans, shelves },
  jobs: { remind, closeMonth },
})
