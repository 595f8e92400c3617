#!/usr/bin/env node
// The command `tallystick` of this repository: the commands of the service, and `new` and `upgrade`.

import { runCommand } from 'tallystick/cli'
import { addNewAndUpgrade } from 'tallystick-dev/commands'

import { contract } from '../contract/index.ts'

await runCommand({
  name: 'Tallystick',
  contract,
  loadApp: async () => (await import('./app.ts')).app,
  addCommands: addNewAndUpgrade,
})
