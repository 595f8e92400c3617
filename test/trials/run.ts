import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// Runs one trial: `npm run trial NAME`. The arguments after the name go to the trial. `npm run trials` runs all trials, until
// one fails.

/** The trials in their order. Each is a file in this folder. */
const TRIALS = [
  'restarts',
  'kills',
  'cuts',
  'rolling',
  'pooler',
  'live',
  'failover',
  'bad-requests',
  'slow-senders',
  'guesses',
  'neighbours',
  'page',
  'soak',
]
const ALL = '--all'

const [name, ...options] = process.argv.slice(2)
const selected = name === ALL ? TRIALS : TRIALS.filter((trial) => trial === name)
if (selected.length === 0) {
  process.stderr.write(`Name one trial: npm run trial NAME. Names: ${TRIALS.join(', ')}\n`)
  process.exitCode = 1
}
for (const trial of selected) {
  const file = fileURLToPath(new URL(`${trial}.ts`, import.meta.url))
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', file, ...options], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
