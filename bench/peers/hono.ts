import { serve } from '@hono/node-server'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { drizzle } from 'drizzle-orm/postgres-js'
import { createMiddleware } from 'hono/factory'
import { HTTPException } from 'hono/http-exception'
import postgres from 'postgres'

import { createAuth } from './better-auth.ts'
import { prepareQueries } from './drizzle-queries.ts'
import { readEnvironment, reportListening } from '../environment.ts'
import { MAX_ROWS, noteList, reserve, taskList } from './responses.ts'

// Hono with zod-openapi, authentication by better-auth, and Drizzle on postgres.js.

interface Env {
  Variables: { user: { id: string; email: string } }
}

const environment = readEnvironment()

const db = drizzle(postgres(environment.databaseUrl, { max: 10 }), { casing: 'snake_case' })
const queries = prepareQueries(db)
const auth = createAuth(environment, db)

const requireSession = createMiddleware<Env>(async (context, next) => {
  const session = await auth.api.getSession({ headers: context.req.raw.headers })
  if (!session) throw new HTTPException(401, { message: 'Sign in first' })
  context.set('user', session.user)
  await next()
})

const Status = z.object({ status: z.literal('ok'), service: z.string(), release: z.string() })
const Counter = z.object({ count: z.int() })
const Task = z.object({
  id: z.int(),
  userId: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  createdAt: z.int(),
  updatedAt: z.int(),
})
const NoteQuery = z.object({ limit: z.coerce.number().int().min(1).max(MAX_ROWS).default(MAX_ROWS) })
const TaskQuery = NoteQuery.extend({ status: Task.shape.status.optional() })
const TaskList = z.object({ tasks: z.array(Task), taskCount: z.int() })
const Note = z.object({
  id: z.string(),
  title: z.string(),
  body: z.string(),
  mine: z.boolean(),
  sharedWith: z.int(),
  updatedAt: z.iso.datetime(),
  can: z.object({
    VIEW_NOTE: z.boolean(),
    EDIT_NOTE: z.boolean(),
    SHARE_NOTE: z.boolean(),
    DELETE_NOTE: z.boolean(),
  }),
})
const NoteList = z.object({ notes: z.array(Note), can: z.object({ CREATE_NOTE: z.boolean() }) })
const Reservation = z.object({ name: z.string(), guests: z.number() })
const ReservationErrors = z.object({ name: z.string().optional(), guests: z.string().optional() })
const NewTask = z.object({ taskTitle: z.string().min(1), taskDesc: z.string().optional() })

const json = <Schema extends z.ZodType>(schema: Schema) => ({ content: { 'application/json': { schema } } })
const ok = <Schema extends z.ZodType>(schema: Schema) => ({ 200: { description: 'OK', ...json(schema) } })

const app = new OpenAPIHono<Env>()

app.post('/api/auth/*', (context) => auth.handler(context.req.raw))

app.openapi(createRoute({ method: 'get', path: '/api/status', responses: ok(Status) }), (context) =>
  context.json(environment.status, 200),
)

app.openapi(
  createRoute({
    method: 'post',
    path: '/api/reservations',
    request: { body: { ...json(Reservation), required: true } },
    responses: {
      ...ok(z.object({ message: z.string() })),
      400: { description: 'A rule is broken', ...json(ReservationErrors) },
    },
  }),
  (context) => {
    const input = context.req.valid('json')
    const { language, message, errors } = reserve(input, context.req.header('accept-language'))
    context.header('content-language', language)
    return errors ? context.json(errors, 400) : context.json({ message }, 200)
  },
)

app.openapi(createRoute({ method: 'get', path: '/api/counter', responses: ok(Counter) }), async (context) =>
  context.json(one(await queries.readCounter.execute()), 200),
)

app.openapi(
  createRoute({ method: 'post', path: '/api/counter/increment', responses: ok(Counter) }),
  async (context) => context.json(one(await queries.increment.execute()), 200),
)

app.openapi(
  createRoute({
    method: 'get',
    path: '/api/tasks',
    middleware: requireSession,
    request: { query: TaskQuery },
    responses: ok(TaskList),
  }),
  async (context) => {
    const userId = context.get('user').id
    const { limit, status } = context.req.valid('query')
    const rows =
      status === undefined
        ? await queries.listTasks.execute({ userId, limit })
        : await queries.listTasksByStatus.execute({ userId, limit, status })
    return context.json(taskList(rows), 200)
  },
)

app.openapi(
  createRoute({
    method: 'post',
    path: '/api/tasks',
    middleware: requireSession,
    request: { body: { ...json(NewTask), required: true } },
    responses: ok(Task),
  }),
  async (context) => {
    const { taskTitle, taskDesc = null } = context.req.valid('json')
    const userId = context.get('user').id
    return context.json(one(await queries.addTask.execute({ userId, taskTitle, taskDesc })), 200)
  },
)

app.openapi(
  createRoute({
    method: 'get',
    path: '/api/notes',
    middleware: requireSession,
    request: { query: NoteQuery },
    responses: ok(NoteList),
  }),
  async (context) => {
    const { id: userId, email } = context.get('user')
    const { limit } = context.req.valid('query')
    return context.json(noteList(await queries.listNotes.execute({ userId, email, limit }), userId), 200)
  },
)

function one<Row>(rows: Row[]): Row {
  const [row] = rows
  if (row === undefined) throw new HTTPException(500, { message: 'Expected a row' })
  return row
}

serve({ fetch: app.fetch, port: environment.port, hostname: '127.0.0.1' }, reportListening)
