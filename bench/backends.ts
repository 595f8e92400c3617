import { readFile } from 'node:fs/promises'
import postgres from 'postgres'
import { z } from 'zod'

const Backends = z.array(z.object({ pid: z.number() }))

/** Returns the CPU time that the processes of PostgreSQL have used for the connections of a database, in µs. */
export type BackendUsage = () => Promise<number>

const none: BackendUsage = () => Promise.resolve(0)

/**
 * Creates the function that measures the processes of a database, from the accounting of the scheduler of Linux. The
 * embedded database has no processes of its own. The processes of an external server cannot be measured.
 */
export function measureBackends(databaseUrl: string | undefined): BackendUsage {
  if (databaseUrl === undefined || !canMeasureBackends) return none
  const sql = postgres(databaseUrl, { max: 1 })
  // The time that a process has used stays in the total after the process has ended.
  let total = 0
  let last = new Map<number, number>()
  return async () => {
    const pids = Backends.parse(
      await sql`select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    const times = await Promise.all(pids.map(async ({ pid }) => [pid, await onProcessor(pid)] as const))
    for (const [pid, time] of times) total += Math.max(0, time - (last.get(pid) ?? 0))
    last = new Map(times)
    return total
  }
}

/** Whether the processes of PostgreSQL run on this machine, and Linux reports their CPU time. */
const canMeasureBackends = process.platform === 'linux' && process.env.BENCH_DATABASE_URL === undefined

/** The first number of `schedstat` is the time on a processor, in ns. A process that has ended has no file. */
const onProcessor = async (pid: number) => {
  const text = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0')
  return Number(text.split(' ')[0]) / 1000
}
