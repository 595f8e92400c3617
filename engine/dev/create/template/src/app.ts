import { defineApp } from 'tallystick'

import { contract } from '../contract/index.ts'
import { migrationsFolder } from '../db/index.ts'
import { ideas } from './ideas.ts'

export const app = defineApp({
  name: 'Example App',
  // The id is in the names of cookies and metrics, and in addresses for agents. Keep the id when the name changes.
  id: 'example-app',
  version: '0.1.0',
  description: 'The API of this application.',
  contract,
  migrationsFolder,
  resources: {
    ideas,
  },
})
