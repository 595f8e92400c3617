import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { freePort } from '../../engine/testing/postgres.ts'

/** Configuration of PgBouncer: transaction mode, few connections, and no `ignore_startup_parameters`. */
const settings = (server: URL, port: number) => `
[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 100
server_login_retry = 1
`

/** Starts PgBouncer in transaction mode with four connections to the PostgreSQL server. */
export async function startPooler(server: string) {
  const version = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' })
  if (version.error) throw new Error('Install PgBouncer: there is no pgbouncer on PATH')
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-pgbouncer-'))
  const file = join(folder, 'pgbouncer.ini')
  const port = await freePort()
  await writeFile(file, settings(new URL(server), port))
  // PgBouncer refuses to run as root. The user `nobody` must be able to read the configuration file.
  await chmod(folder, 0o755)
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []

  const start = async () => {
    const child = spawn('pgbouncer', ['-q', ...user, file], { stdio: 'ignore' })
    while (!(await accepts(port))) {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`)
      await sleep(20)
    }
    return child
  }
  let running = await start()
  const end = async () => {
    const ended = once(running, 'exit')
    running.kill('SIGTERM')
    await ended
  }

  const url = new URL(server)
  url.port = String(port)
  return {
    version: version.stdout.split('\n', 1)[0] ?? '',
    url: url.href,
    /** Stops PgBouncer at once, and starts PgBouncer again after `pause` milliseconds. */
    restart: async (pause: number) => {
      await end()
      await sleep(pause)
      running = await start()
    },
    stop: async () => {
      await end()
      await rm(folder, { recursive: true })
    },
  }
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (accepted: boolean) => () => {
      socket.destroy()
      resolve(accepted)
    }
    socket.once('connect', end(true)).once('error', end(false))
  })
