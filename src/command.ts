#!/usr/bin/env node
import { contract } from '../contract/index.ts'
import { runCommand } from './cli/index.ts'

await runCommand({ contract, loadApp: async () => (await import('./app.ts')).app })
