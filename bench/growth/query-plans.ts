import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { z } from 'zod'

import { createClient } from '../../contract/client.ts'
import type { Server } from '../servers.ts'

const Scans = z.array(z.object({ table: z.string(), scans: z.number() }))

/**
 * Number of calls of each operation. The number is above five, because from the sixth execution of a prepared
 * statement, PostgreSQL may use a generic plan.
 */
const REPETITIONS = 8

/** Tables that grow with use. A call must not read these tables with a sequential scan. */
const GROWING_TABLES = ['users', 'sessions', 'tasks', 'notes', 'note_shares']

/** For each call, lists the tables of GROWING_TABLES that PostgreSQL read with a sequential scan. */
export async function checkPlans({ origin }: Server, databaseUrl: string, cookie: string, email: string) {
  const sql = postgres(databaseUrl, { max: 1 })
  const client = createClient(origin, { headers: { cookie } })
  const results: { call: string; scanned: string[] }[] = []
  let before = await countSequentialScans(sql)
  for (const [call, work] of Object.entries(calls(client, email))) {
    for (let time = 0; time < REPETITIONS; time++) await work()
    await flushStatistics(sql)
    const after = await countSequentialScans(sql)
    const scanned = GROWING_TABLES.filter((table) => (after.get(table) ?? 0) > (before.get(table) ?? 0))
    results.push({ call, scanned })
    before = after
  }
  await sql.end()
  return results
}

function calls(client: ReturnType<typeof createClient>, email: string) {
  const task = async () => (await client.tasks.create({ taskTitle: 'A task' })).id
  const note = async () => (await client.notes.create({ title: 'A note', body: '' })).id
  return {
    'account.get': () => client.account.get(),
    'tasks.create': task,
    'tasks.list': () => client.tasks.list(),
    'tasks.list by status': () => client.tasks.list({ status: 'pending' }),
    'tasks.list of a page': () => client.tasks.list({ limit: 2 }),
    'tasks.get': async () => client.tasks.get({ id: await task() }),
    'tasks.update': async () => client.tasks.update({ id: await task(), title: 'Another' }),
    'tasks.delete': async () => client.tasks.delete({ id: await task() }),
    'notes.create': note,
    'notes.list': () => client.notes.list(),
    'notes.list of a page': () => client.notes.list({ limit: 2 }),
    'notes.update': async () => client.notes.update({ id: await note(), title: 'Another', body: '' }),
    'notes.share': async () => client.notes.share({ id: await note(), email, role: 'editor' }),
    'notes.shares': async () => client.notes.shares({ id: await note() }),
    'notes.unshare': async () => client.notes.unshare({ id: await note(), email }),
    'notes.delete': async () => client.notes.delete({ id: await note() }),
    'legacyNotes.create': () => client.legacyNotes.create({ newNote: 'A note' }),
    'legacyNotes.list': () => client.legacyNotes.list(),
    'legacyNotes.delete': async () => {
      const { id } = await client.legacyNotes.create({ newNote: 'A note' })
      await client.legacyNotes.delete({ id })
    },
    'sessions.list': () => client.sessions.list(),
    'sessions.revoke': () => client.sessions.revoke({ revokeSessionToken: 'unknown' }).catch(() => undefined),
    'legacyNotes.reset': () => client.legacyNotes.reset(),
    'tasks.reset': () => client.tasks.reset(),
  }
}

/**
 * Closes the connections of the service, because PostgreSQL publishes the statistics of a connection when the
 * connection ends. The service reconnects at the next call.
 */
async function flushStatistics(sql: postgres.Sql) {
  const others = sql`
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`
  await sql`select pg_terminate_backend(pid) ${others}`
  while ((await sql`select ${others}`).length > 0) await sleep(5)
  // Gives the service time to notice the closed connections.
  await sleep(100)
}

async function countSequentialScans(sql: postgres.Sql) {
  const rows = await sql`select relname as table, seq_scan::float8 as scans from pg_stat_user_tables`
  return new Map(Scans.parse([...rows]).map(({ table, scans }) => [table, scans]))
}
