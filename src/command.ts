#!/usr/bin/env node
import { runCommand } from 'tallystick/cli'
import { addNewCommand } from 'tallystick-dev/commands'

import { contract } from '../contract/index.ts'

await runCommand({
  name: 'Tallystick',
  contract,
  loadApp: async () => (await import('./app.ts')).app,
  addCommands: addNewCommand,
})
