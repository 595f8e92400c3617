import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { type HttpRequest, quantile, sendRequest } from './http-client.ts'
import { type Service, signIn, startService } from './service-process.ts'
import { createAccount, type TestAccount } from './test-accounts.ts'
import { startDurablePostgres, trial } from './trial.ts'

/** Number of requests per second. The load sends at this rate even if responses are late. */
const RATE = 60
/** Interval at which people sign in, and interval at which OAuth clients refresh their tokens, in milliseconds. */
const SIGN_IN_INTERVAL = 10_000
const REFRESH_INTERVAL = 240_000
const PEOPLE = ['ada', 'bob', 'cleo', 'dan', 'eve']
/**
 * Maximum ratio of the resident memory in the last quarter of the trial to the resident memory in the second quarter.
 */
const MEMORY_GROWTH = 1.1
/** Maximum growth of the number of file descriptors. Some growth is normal: the pool opens connections on demand. */
const DESCRIPTOR_GROWTH = 8

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
const duration = Number(values.minutes) * 60_000

type SoakRequest = (person: TestAccount) => HttpRequest & { status: number }

const asPerson =
  (httpRequest: HttpRequest, status = 200): SoakRequest =>
  ({ cookie }) => ({ ...httpRequest, headers: { cookie, ...httpRequest.headers }, status })
const get = (path: string, headers = {}) => asPerson({ method: 'GET', path, headers })
const post = (path: string, body?: object, headers = {}, status = 200) =>
  asPerson({ method: 'POST', path, headers, ...(body && { body }) }, status)
const mcp =
  (method: string, params: object): SoakRequest =>
  ({ bearer }) => ({
    method: 'POST',
    path: '/mcp',
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: { authorization: `Bearer ${bearer}`, accept: 'application/json, text/event-stream' },
    status: 200,
  })
const events = { 'datastar-request': 'true' }
const firstForm = { accept: 'application/json;version=1' }

/** The trial sends the requests in this order, so that the resets remove the rows that earlier requests create. */
const requests: SoakRequest[] = [
  get('/api/status'),
  get('/api/me'),
  get('/api/counter'),
  post('/api/counter/increment'),
  post('/rpc/counter/decrement', { json: {} }),
  get('/api/counter/fragment', events),
  post('/api/tasks', { taskTitle: 'One', taskDesc: 'x'.repeat(2000) }),
  post('/rpc/tasks/create', { json: { taskTitle: 'Two' } }),
  get('/api/tasks?status=pending'),
  get('/api/tasks'),
  mcp('tools/list', {}),
  mcp('tools/call', { name: 'tasks_create', arguments: { taskTitle: 'Three' } }),
  mcp('tools/call', { name: 'tasks_update', arguments: { id: 0, title: '' } }),
  post('/api/tasks/reset'),
  post('/api/notes', { title: 'One', body: 'x'.repeat(2000) }),
  post('/api/notes', { newNote: 'Two' }, events),
  get('/api/notes', events),
  get('/api/notes', firstForm),
  get('/api/notes'),
  post('/api/notes/reset'),
  get('/api/sessions'),
  post('/api/reservations', { name: 'Ada', guests: 2 }, { 'accept-language': 'uk' }),
  post('/api/reservations', { name: ' ', guests: 99 }, { 'accept-language': 'ar' }, 400),
  post('/api/tasks', { taskTitle: '' }, {}, 400),
  post('/api/tasks', { taskTitle: 'x' }, { cookie: '' }, 401),
  post('/api/tasks', { taskTitle: 'x' }, { origin: 'https://elsewhere.example' }, 403),
  asPerson({ method: 'GET', path: '/api/tasks/0' }, 404),
  asPerson({ method: 'PUT', path: '/api/tasks' }, 405),
  post('/api/tasks', { taskTitle: 'x'.repeat(1_100_000) }, {}, 413),
  post('/api/tasks', { taskTitle: 'x' }, { 'content-type': 'text/plain' }, 415),
]

await trial('soak', async (report) => {
  const { url } = await startDurablePostgres()
  const service = await startService({ DATABASE_URL: url, TRUSTED_PROXIES: '127.0.0.1' })
  const people: TestAccount[] = []
  for (const name of PEOPLE) people.push(await createAccount(service, `${name}@example.com`))
  // Warm-up: the JavaScript engine compiles the code, and the connection pool opens its connections.
  await runLoad(service, people, Math.min(duration / 10, 30_000))
  const open = service.descriptors()

  const { times, failures, resident } = await runLoad(service, people, duration)
  const quarter = Math.floor(resident.length / 4)
  const [second, last] = [resident.slice(quarter, 2 * quarter), resident.slice(-quarter)].map((part) =>
    Math.round(quantile(part, 0.5) / 2 ** 20),
  ) as [number, number]
  const openAfter = service.descriptors()
  report({
    requests: times.length,
    failures: failures.length,
    p50: `${quantile(times, 0.5).toFixed(1)} ms`,
    p99: `${quantile(times, 0.99).toFixed(1)} ms`,
    'resident in the second quarter and the last': `${second} ${last} MiB`,
    'descriptors before and after': `${open} ${openAfter}`,
  })
  if (failures.length > 0) throw new Error([...new Set(failures)].slice(0, 10).join('\n'))
  if (last > MEMORY_GROWTH * second) throw new Error('Resident memory has grown')
  if (openAfter > open + DESCRIPTOR_GROWTH) throw new Error('The number of open descriptors has grown')
})

/** Sends requests at a constant rate. Closes its connections at the end. */
async function runLoad(service: Service, people: TestAccount[], duration: number) {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  const failures: string[] = []
  const resident: number[] = []
  const underWay = new Set<Promise<void>>()
  const start = performance.now()
  const elapsed = () => performance.now() - start

  const track = (task: Promise<void>) => {
    const done = task
      .catch((error: unknown) => void failures.push(String(error)))
      .finally(() => underWay.delete(done))
    underWay.add(done)
  }
  const send = async ({ status, ...httpRequest }: ReturnType<SoakRequest>) => {
    const answer = await sendRequest(agent, service.origin, httpRequest)
    times.push(answer.duration)
    if (answer.status !== status)
      failures.push(`${httpRequest.method} ${httpRequest.path} answered ${answer.status}: ${answer.body}`)
  }
  const signInAndOut = async (turn: number) => {
    const from = { 'x-forwarded-for': `198.51.100.${turn % 60}` }
    const cookie = await signIn(service.origin, `guest${turn % 60}@example.com`, service.dataDir, from)
    await send({ method: 'POST', path: '/api/auth/sign-out', headers: { cookie }, status: 200 })
  }

  for (let turn = 0, signIns = 0, refreshes = 0; elapsed() < duration; turn++) {
    const person = people[Math.floor(turn / requests.length) % people.length]
    const request = requests[turn % requests.length]
    if (person && request) track(send(request(person)))
    if (elapsed() > signIns * SIGN_IN_INTERVAL) track(signInAndOut(signIns++))
    if (elapsed() > refreshes * REFRESH_INTERVAL) {
      for (const { renewToken } of people) track(renewToken())
      refreshes++
    }
    if (turn % RATE === 0) resident.push(service.resident())
    await sleep(Math.max(0, (turn + 1) * (1000 / RATE) - elapsed()))
  }
  await Promise.all(underWay)
  agent.destroy()
  await sleep(2000)
  return { times, failures, resident }
}
