import { z } from 'zod'

export interface Request {
  method: 'GET' | 'POST'
  path: string
  body?: string
  headers?: Record<string, string>
}

/** Returns the request of each caller. `callers`: the headers that identify a caller. */
export const forCallers = (request: Request, callers: Record<string, string>[]): Request[] =>
  callers.map((caller) => ({ ...request, headers: { ...request.headers, ...caller } }))

export const PROTOCOLS = ['rest', 'rpc', 'mcp'] as const
export type Protocol = (typeof PROTOCOLS)[number]

export interface Operation extends Partial<Record<Protocol, Request>> {
  name: string
  /**
   * The sessions of the callers: `anyone` has no session. `readers` and `writers` are signed in. `readers` only read
   * data, and `writers` change data. `reader` is the first of the readers.
   */
  callers: 'anyone' | 'reader' | 'readers' | 'writers'
  /**
   * Replaces ids, times and other values that differ between requests with a description of their type, so that
   * responses can be compared.
   */
  normalize?: (body: unknown) => unknown
}

const post = (path: string, body?: object, headers?: Record<string, string>): Request => ({
  method: 'POST',
  path,
  ...(body && { body: JSON.stringify(body) }),
  headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
})
const get = (path: string): Request => ({ method: 'GET', path })
/** A call of the typed client. */
const call = (path: string, input?: object, headers?: Record<string, string>) =>
  post(`/rpc/${path}`, input === undefined ? {} : { json: input }, headers)

const TaskBody = z.strictObject({
  id: z
    .int()
    .positive()
    .transform(() => 'a number'),
  userId: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  status: z.literal('pending'),
  createdAt: z.int().transform(() => 'a time'),
  updatedAt: z.int().transform(() => 'a time'),
})
const CounterBody = z.strictObject({ count: z.int().transform(() => 'a number') })

const reservation = { name: 'Олена', guests: 4 }
const languages = { 'accept-language': 'uk-UA,uk;q=0.9,en;q=0.8' }
const task = { taskTitle: 'Write the report', taskDesc: 'What it is about, in some words' }
const listTasks = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'tasks_list', arguments: {} },
}
const mcpHeaders = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }

export const INCREMENT = 'POST /api/counter/increment'
export const MCP = 'tasks_list over MCP'
/** All connections have the session of one person, as those of an integration. */
export const ONE_ACCOUNT = 'GET /api/tasks?limit=20 of one account'
export const LISTS = ['GET /api/tasks', 'GET /api/notes']

export const operations: Operation[] = [
  { name: 'GET /api/status', callers: 'anyone', rest: get('/api/status'), rpc: call('status/get') },
  {
    name: 'POST /api/reservations',
    callers: 'anyone',
    rest: post('/api/reservations', reservation, languages),
    rpc: call('reservations/create', reservation, languages),
  },
  { name: 'GET /api/counter', callers: 'anyone', rest: get('/api/counter'), rpc: call('counter/get') },
  {
    name: INCREMENT,
    callers: 'anyone',
    rest: post('/api/counter/increment'),
    rpc: call('counter/increment'),
    normalize: (body) => CounterBody.parse(body),
  },
  { name: 'GET /api/tasks', callers: 'readers', rest: get('/api/tasks'), rpc: call('tasks/list') },
  {
    name: 'GET /api/tasks?limit=20',
    callers: 'readers',
    rest: get('/api/tasks?limit=20'),
    rpc: call('tasks/list', { limit: 20 }),
  },
  { name: ONE_ACCOUNT, callers: 'reader', rest: get('/api/tasks?limit=20') },
  {
    name: 'GET /api/tasks?status=pending',
    callers: 'readers',
    rest: get('/api/tasks?status=pending'),
    rpc: call('tasks/list', { status: 'pending' }),
  },
  {
    name: 'POST /api/tasks',
    callers: 'writers',
    rest: post('/api/tasks', task),
    rpc: call('tasks/create', task),
    normalize: (body) => TaskBody.parse(body),
  },
  { name: 'GET /api/notes', callers: 'readers', rest: get('/api/notes'), rpc: call('notes/list') },
  {
    name: 'GET /api/notes?limit=100',
    callers: 'readers',
    rest: get('/api/notes?limit=100'),
    rpc: call('notes/list', { limit: 100 }),
  },
  { name: MCP, callers: 'readers', mcp: post('/mcp', listTasks, mcpHeaders) },
]
