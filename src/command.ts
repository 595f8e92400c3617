#!/usr/bin/env node
import { runCommand } from 'tallystick/cli'

import { contract } from '../contract/index.ts'

await runCommand({ name: 'Tallystick', contract, loadApp: async () => (await import('./app.ts')).app })
