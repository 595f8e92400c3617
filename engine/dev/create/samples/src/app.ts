import { fileURLToPath } from 'node:url'
import { defineApp } from 'tallystick'

import { contract } from '../contract/index.ts'
import { gardens } from './gardens.ts'
import { plants } from './plants.ts'

/** The resources that `add --shared` and `add --of` copy, in an application, so that the checks compile and test them. */
export const app = defineApp({
  name: 'Samples',
  version: '1.0.0',
  description: 'The samples of shared resources, and of resources within a parent.',
  contract,
  migrationsFolder: fileURLToPath(new URL('../db/migrations', import.meta.url)),
  resources: { gardens, plants },
})
