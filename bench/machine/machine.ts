import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import postgres from 'postgres'
import { z } from 'zod'

import { canPin } from './cpu-affinity.ts'
import { versionOf as nodeVersionOf } from './node-versions.ts'

const LIBRARIES = [
  '@orpc/server',
  'better-auth',
  'drizzle-orm',
  'postgres',
  'zod',
  'fastify',
  '@fastify/type-provider-typebox',
  'typebox',
  '@fastify/cookie',
  'pg',
  'hono',
  '@hono/zod-openapi',
  '@hono/node-server',
  '@modelcontextprotocol/sdk',
  'autocannon',
  'ioredis',
]

/** Of the last minute before the start of this process. */
const [LOAD_AVERAGE = 0] = loadavg()

const Package = z.object({ version: z.string() })

const versionOf = (name: string) =>
  Package.parse(JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'))).version

/** Describes the environment of a benchmark run: the date, the machine, and the versions of the software. */
export async function describeMachine(databaseUrl: string, nodes: string[], generator: string) {
  const sql = postgres(databaseUrl, { max: 1 })
  const [settings] = await sql`
    select current_setting('server_version') as version, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as commit`
  await sql.end()
  const { version, fsync, commit } = z
    .object({ version: z.string(), fsync: z.string(), commit: z.string() })
    .parse(settings)
  const isExternal = process.env.BENCH_DATABASE_URL !== undefined
  return {
    Date: new Date().toISOString().slice(0, 10),
    Machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    Cores: canPin
      ? `servers on the first, ${isExternal ? '' : 'PostgreSQL and '}the load generator on the second`
      : 'shared by servers, PostgreSQL and the load generator: this system has no `taskset`',
    Node: nodes.map(nodeVersionOf).join(' and '),
    'Load average before the run': LOAD_AVERAGE.toFixed(1),
    'Load generator': generator,
    PostgreSQL: `${version}, fsync ${fsync}, synchronous_commit ${commit}${isExternal ? ', an external server' : ''}`,
    Libraries: LIBRARIES.map((name) => `${name} ${versionOf(name)}`).join(', '),
  }
}
