import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { sendRequest, quantile, type HttpRequest } from './http-client.ts'
import { type TestAccount, createAccount } from './test-accounts.ts'
import { type Service, signIn, startService } from './service-process.ts'
import { startDurablePostgres, trial } from './trial.ts'

/** Requests a second, whatever becomes of those before. */
const RATE = 60
/** In milliseconds: how often somebody signs in, and the apps get new tokens. */
const SIGN_IN_EVERY = 10_000
const RENEW_EVERY = 240_000
const PEOPLE = ['ada', 'bob', 'cleo', 'dan', 'eve']
/** How much more memory may be in use in the last quarter than in the second. */
const GROWTH = 1.1
/** How many more descriptors may be open at the end: the pool of the database opens its own as it needs them. */
const MORE_OPEN = 8

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
const duration = Number(values.minutes) * 60_000

type Work = (person: TestAccount) => HttpRequest & { status: number }

const as =
  (question: HttpRequest, status = 200): Work =>
  ({ cookie }) => ({ ...question, headers: { cookie, ...question.headers }, status })
const get = (path: string, headers = {}) => as({ method: 'GET', path, headers })
const post = (path: string, body?: object, headers = {}, status = 200) =>
  as({ method: 'POST', path, headers, ...(body && { body }) }, status)
const tool =
  (method: string, params: object): Work =>
  ({ bearer }) => ({
    method: 'POST',
    path: '/mcp',
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: { authorization: `Bearer ${bearer}`, accept: 'application/json, text/event-stream' },
    status: 200,
  })
const events = { 'datastar-request': 'true' }
const first = { accept: 'application/json;version=1' }

/** Done in turn, so that what is added is taken away again. */
const works: Work[] = [
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
  tool('tools/list', {}),
  tool('tools/call', { name: 'tasks_create', arguments: { taskTitle: 'Three' } }),
  tool('tools/call', { name: 'tasks_update', arguments: { id: 0, title: '' } }),
  post('/api/tasks/reset'),
  post('/api/notes', { title: 'One', body: 'x'.repeat(2000) }),
  post('/api/notes', { newNote: 'Two' }, events),
  get('/api/notes', events),
  get('/api/notes', first),
  get('/api/notes'),
  post('/api/notes/reset'),
  get('/api/sessions'),
  post('/api/reservations', { name: 'Ada', guests: 2 }, { 'accept-language': 'uk' }),
  post('/api/reservations', { name: ' ', guests: 99 }, { 'accept-language': 'ar' }, 400),
  post('/api/tasks', { taskTitle: '' }, {}, 400),
  post('/api/tasks', { taskTitle: 'x' }, { cookie: '' }, 401),
  post('/api/tasks', { taskTitle: 'x' }, { origin: 'https://elsewhere.example' }, 403),
  as({ method: 'GET', path: '/api/tasks/0' }, 404),
  as({ method: 'PUT', path: '/api/tasks' }, 405),
  post('/api/tasks', { taskTitle: 'x'.repeat(1_100_000) }, {}, 413),
  post('/api/tasks', { taskTitle: 'x' }, { 'content-type': 'text/plain' }, 415),
]

await trial('soak', async (tell) => {
  const { url } = await startDurablePostgres()
  const service = await startService({ DATABASE_URL: url, TRUSTED_PROXIES: '127.0.0.1' })
  const people: TestAccount[] = []
  for (const name of PEOPLE) people.push(await createAccount(service, `${name}@example.com`))
  // Until everything has been done often enough to be compiled, and every connection to the database is there.
  await keepAsking(service, people, Math.min(duration / 10, 30_000))
  const open = service.descriptors()

  const { times, failures, resident } = await keepAsking(service, people, duration)
  const quarter = Math.floor(resident.length / 4)
  const [second, last] = [resident.slice(quarter, 2 * quarter), resident.slice(-quarter)].map((part) =>
    Math.round(quantile(part, 0.5) / 2 ** 20),
  ) as [number, number]
  const openAfter = service.descriptors()
  tell({
    requests: times.length,
    failures: failures.length,
    p50: `${quantile(times, 0.5).toFixed(1)} ms`,
    p99: `${quantile(times, 0.99).toFixed(1)} ms`,
    'resident in the second quarter and the last': `${second} ${last} MiB`,
    'descriptors before and after': `${open} ${openAfter}`,
  })
  if (failures.length > 0) throw new Error([...new Set(failures)].slice(0, 10).join('\n'))
  if (last > GROWTH * second) throw new Error('Memory grew')
  if (openAfter > open + MORE_OPEN) throw new Error('What was opened was not closed')
})

/** Asks at the one rate, on connections that are closed at the end. */
async function keepAsking(service: Service, people: TestAccount[], duration: number) {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  const failures: string[] = []
  const resident: number[] = []
  const underWay = new Set<Promise<void>>()
  const start = performance.now()
  const since = () => performance.now() - start

  const during = (work: Promise<void>) => {
    const done = work
      .catch((error: unknown) => void failures.push(String(error)))
      .finally(() => underWay.delete(done))
    underWay.add(done)
  }
  const ask = async ({ status, ...question }: ReturnType<Work>) => {
    const answer = await sendRequest(agent, service.origin, question)
    times.push(answer.duration)
    if (answer.status !== status)
      failures.push(`${question.method} ${question.path} answered ${answer.status}: ${answer.body}`)
  }
  const come = async (turn: number) => {
    const from = { 'x-forwarded-for': `198.51.100.${turn % 60}` }
    const cookie = await signIn(service.origin, `guest${turn % 60}@example.com`, service.dataDir, from)
    await ask({ method: 'POST', path: '/api/auth/sign-out', headers: { cookie }, status: 200 })
  }

  for (let turn = 0, signIns = 0, renewals = 0; since() < duration; turn++) {
    const person = people[Math.floor(turn / works.length) % people.length]
    const work = works[turn % works.length]
    if (person && work) during(ask(work(person)))
    if (since() > signIns * SIGN_IN_EVERY) during(come(signIns++))
    if (since() > renewals * RENEW_EVERY) {
      for (const { renewToken } of people) during(renewToken())
      renewals++
    }
    if (turn % RATE === 0) resident.push(service.resident())
    await sleep(Math.max(0, (turn + 1) * (1000 / RATE) - since()))
  }
  await Promise.all(underWay)
  agent.destroy()
  await sleep(2000)
  return { times, failures, resident }
}
