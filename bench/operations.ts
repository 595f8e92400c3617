import { z } from 'zod'

export interface Request {
  method: 'GET' | 'POST'
  path: string
  body?: string
}

export interface Operation extends Request {
  name: string
  /** The request of the typed client for the same operation. */
  rpc: { path: string; body: string }
  /**
   * The sessions of the callers: `anyone` has no session. `readers` and `writers` are signed in. `readers` only read
   * data, and `writers` change data.
   */
  callers: 'anyone' | 'readers' | 'writers'
  headers?: Record<string, string>
  /**
   * Replaces ids, times and other values that differ between requests with a description of their type, so that
   * responses can be compared.
   */
  normalize: (body: unknown) => unknown
}

const json = (value: object) => JSON.stringify(value)
const unchanged = (body: unknown) => body

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
const task = { taskTitle: 'Write the report', taskDesc: 'What it is about, in some words' }

export const operations: Operation[] = [
  {
    name: 'GET /api/status',
    method: 'GET',
    path: '/api/status',
    rpc: { path: '/rpc/status/get', body: '{}' },
    callers: 'anyone',
    normalize: unchanged,
  },
  {
    name: 'POST /api/reservations',
    method: 'POST',
    path: '/api/reservations',
    body: json(reservation),
    rpc: { path: '/rpc/reservations/create', body: json({ json: reservation }) },
    callers: 'anyone',
    headers: { 'accept-language': 'uk-UA,uk;q=0.9,en;q=0.8' },
    normalize: unchanged,
  },
  {
    name: 'GET /api/counter',
    method: 'GET',
    path: '/api/counter',
    rpc: { path: '/rpc/counter/get', body: '{}' },
    callers: 'anyone',
    normalize: unchanged,
  },
  {
    name: 'POST /api/counter/increment',
    method: 'POST',
    path: '/api/counter/increment',
    rpc: { path: '/rpc/counter/increment', body: '{}' },
    callers: 'anyone',
    normalize: (body) => CounterBody.parse(body),
  },
  {
    name: 'GET /api/tasks',
    method: 'GET',
    path: '/api/tasks',
    rpc: { path: '/rpc/tasks/list', body: '{}' },
    callers: 'readers',
    normalize: unchanged,
  },
  {
    name: 'POST /api/tasks',
    method: 'POST',
    path: '/api/tasks',
    body: json(task),
    rpc: { path: '/rpc/tasks/create', body: json({ json: task }) },
    callers: 'writers',
    normalize: (body) => TaskBody.parse(body),
  },
  {
    name: 'GET /api/notes',
    method: 'GET',
    path: '/api/notes',
    rpc: { path: '/rpc/notes/list', body: '{}' },
    callers: 'readers',
    normalize: unchanged,
  },
]

export const requestOf = (operation: Operation, rpc: boolean): Request =>
  rpc
    ? { method: 'POST', ...operation.rpc }
    : { method: operation.method, path: operation.path, body: operation.body }

export const headersOf = (operation: Operation, { body }: Request) => ({
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...operation.headers,
})
