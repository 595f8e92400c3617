import { z } from 'zod'

export interface Request {
  method: 'GET' | 'POST'
  path: string
  body?: string
}

export interface Work extends Request {
  name: string
  /** The same over RPC, as the typed client sends it. */
  rpc: { path: string; body: string }
  /** Who asks: nobody in particular, people who only read, or people whose rows grow. */
  by: 'anyone' | 'readers' | 'writers'
  headers?: Record<string, string>
  /** An answer without what differs each time, of which only the kind is looked at. */
  comparable: (answer: unknown) => unknown
}

const json = (value: object) => JSON.stringify(value)
const same = (answer: unknown) => answer

const Created = z.strictObject({
  id: z
    .int()
    .positive()
    .transform(() => 'a number'),
  userId: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  status: z.literal('pending'),
  createdAt: z.int().transform(() => 'a moment'),
  updatedAt: z.int().transform(() => 'a moment'),
})
const Counted = z.strictObject({ count: z.int().transform(() => 'a number') })

const reservation = { name: 'Олена', guests: 4 }
const task = { taskTitle: 'Write the report', taskDesc: 'What it is about, in some words' }

export const works: Work[] = [
  {
    name: 'GET /api/status',
    method: 'GET',
    path: '/api/status',
    rpc: { path: '/rpc/status/get', body: '{}' },
    by: 'anyone',
    comparable: same,
  },
  {
    name: 'POST /api/reservations',
    method: 'POST',
    path: '/api/reservations',
    body: json(reservation),
    rpc: { path: '/rpc/reservations/create', body: json({ json: reservation }) },
    by: 'anyone',
    headers: { 'accept-language': 'uk-UA,uk;q=0.9,en;q=0.8' },
    comparable: same,
  },
  {
    name: 'GET /api/counter',
    method: 'GET',
    path: '/api/counter',
    rpc: { path: '/rpc/counter/get', body: '{}' },
    by: 'anyone',
    comparable: same,
  },
  {
    name: 'POST /api/counter/increment',
    method: 'POST',
    path: '/api/counter/increment',
    rpc: { path: '/rpc/counter/increment', body: '{}' },
    by: 'anyone',
    comparable: (answer) => Counted.parse(answer),
  },
  {
    name: 'GET /api/tasks',
    method: 'GET',
    path: '/api/tasks',
    rpc: { path: '/rpc/tasks/list', body: '{}' },
    by: 'readers',
    comparable: same,
  },
  {
    name: 'POST /api/tasks',
    method: 'POST',
    path: '/api/tasks',
    body: json(task),
    rpc: { path: '/rpc/tasks/create', body: json({ json: task }) },
    by: 'writers',
    comparable: (answer) => Created.parse(answer),
  },
  {
    name: 'GET /api/notes',
    method: 'GET',
    path: '/api/notes',
    rpc: { path: '/rpc/notes/list', body: '{}' },
    by: 'readers',
    comparable: same,
  },
]

export const requestOf = (work: Work, rpc: boolean): Request =>
  rpc ? { method: 'POST', ...work.rpc } : { method: work.method, path: work.path, body: work.body }

export const headersOf = (work: Work, { body }: Request) => ({
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...work.headers,
})
