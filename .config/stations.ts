import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request as sendRequest } from 'node:http'
import { type Profiler, Session } from 'node:inspector/promises'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { createTallystick } from '../src/testing.ts'

// Counts the files and functions of this repository that run for one request over HTTP, and the number of their calls. V8
// counts the calls, after a warm-up. An async function counts again each time that it continues. The settings are those of
// production, with the embedded database and without a log. Packages in `node_modules` are not counted.
// - `--files`: also lists the functions of each file, with the number of calls.
// - `--check`: fails if docs/how-it-works.md does not name each of the files.

const DOCUMENT = 'docs/how-it-works.md'
const ROOT = resolve(import.meta.dirname, '..')
const SETTINGS = {
  NODE_ENV: 'production',
  BASE_URL: 'http://localhost:3000',
  SMTP_URL: 'smtp://localhost',
  MAIL_FROM: 'service@example.com',
  RATE_LIMITS: 'on',
}
/** The folders of the harness, which runs in the same process. */
const HARNESS = /^(\.config|engine\/dev)\//
const WARM_UP = 20
/** Number of traces of a request. The one with the fewest calls has no call of a timer. */
const TRACES = 5
/** Time for the work after an answer, for example the announcement to other processes, in milliseconds. */
const REST = 50
/** The compiler adds this function, which sets the name of a function. */
const ADDED = '__name'

interface Message {
  method: string
  path: string
  body?: object
  headers?: Record<string, string>
}

interface Trace {
  /** The called functions of each file, with the number of calls. */
  files: Map<string, { name: string; count: number }[]>
  functions: number
  calls: number
}

const { listen, signIn, close } = await createTallystick(SETTINGS)
const origin = await listen()
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const session = new Session()
session.connect()

async function send({ method, path, body, headers = {} }: Message) {
  const text = body && JSON.stringify(body)
  const ofBody = text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  const request = sendRequest(origin + path, { method, agent, headers: { ...headers, ...ofBody } }).end(text)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const answer = Buffer.concat((await response.toArray()) as Buffer[]).toString()
  if (response.statusCode !== 200)
    throw new Error(`${method} ${path} was answered with ${response.statusCode}: ${answer}`)
  return answer
}

const rest = () => new Promise((resume) => setTimeout(resume, REST))

async function trace(message: Message): Promise<Trace> {
  for (let count = 0; count < WARM_UP; count++) await send(message)
  const traces: Trace[] = []
  for (let count = 0; count < TRACES; count++) {
    await rest()
    await session.post('Profiler.takePreciseCoverage')
    await send(message)
    await rest()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    traces.push(await toTrace(result))
  }
  return traces.reduce((least, each) => (each.calls < least.calls ? each : least))
}

/** Returns the path of a file that is counted. */
function pathOf(url: string) {
  if (!url.startsWith('file:')) return undefined
  const path = relative(ROOT, fileURLToPath(url.replace(/\?.*/, '')))
  return path.startsWith('..') || path.includes('node_modules/') || HARNESS.test(path) ? undefined : path
}

async function toTrace(scripts: Profiler.ScriptCoverage[]): Promise<Trace> {
  const files: Trace['files'] = new Map()
  for (const { scriptId, url, functions } of scripts) {
    const path = pathOf(url)
    if (path === undefined) continue
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId })
    const called = functions.flatMap(({ functionName, ranges: [whole] }) => {
      if (!whole || whole.count === 0 || functionName === ADDED) return []
      // The compiler wraps a function without a name of its own: __name((…) => …, "name")
      const [, name = functionName] = /^,\s*"([^"]+)"\)/.exec(scriptSource.slice(whole.endOffset)) ?? []
      return [{ name, count: whole.count }]
    })
    if (called.length > 0) files.set(path, called)
  }
  const all = [...files.values()].flat()
  return { files, functions: all.length, calls: all.reduce((sum, { count }) => sum + count, 0) }
}

const cookie = await signIn('ada@example.com')
const created = JSON.parse(
  await send({ method: 'POST', path: '/api/tasks', body: { taskTitle: 'Count' }, headers: { cookie } }),
) as { id: number }
const messages: [string, Message][] = [
  ['`GET /api/status`', { method: 'GET', path: '/api/status' }],
  ['`GET /api/tasks`', { method: 'GET', path: '/api/tasks', headers: { cookie } }],
  [
    '`PATCH /api/tasks/{id}`',
    { method: 'PATCH', path: `/api/tasks/${created.id}`, body: { status: 'completed' }, headers: { cookie } },
  ],
  ['`counter.increment` over RPC', { method: 'POST', path: '/rpc/counter/increment', body: {} }],
]

await session.post('Debugger.enable')
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
const traces: [string, Trace][] = []
for (const [name, message] of messages) traces.push([name, await trace(message)])
session.disconnect()
agent.destroy()
await close()

const row = (name: string, ...figures: (string | number)[]) =>
  `| ${name.padEnd(28)} | ${figures.map((figure) => String(figure).padStart(9)).join(' | ')} |\n`
process.stdout.write(row('Request', 'Files', 'Functions', 'Calls'))
for (const [name, { files, functions, calls }] of traces)
  process.stdout.write(row(name, files.size, functions, calls))

if (process.argv.includes('--files'))
  for (const [name, { files }] of traces) {
    process.stdout.write(`\n${name}\n`)
    for (const [path, called] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
      process.stdout.write(`  ${path}: ${called.map(({ name, count }) => `${name} ${count}`).join(', ')}\n`)
  }

if (process.argv.includes('--check')) {
  const text = await readFile(resolve(ROOT, DOCUMENT), 'utf8')
  const paths = new Set(traces.flatMap(([, { files }]) => [...files.keys()]))
  const missing = [...paths].filter((path) => !text.includes(path)).sort()
  for (const path of missing) process.stderr.write(`${DOCUMENT}: name ${path}, which runs for a request\n`)
  if (missing.length > 0) process.exitCode = 1
}
// Timers of packages can keep the process alive.
process.exit()
