import cookie from '@fastify/cookie'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyRequest } from 'fastify'
import { randomBytes, randomUUID } from 'node:crypto'
import { Pool, types } from 'pg'

import { readEnvironment, reportListening, SIGN_IN_CODE } from '../environment.ts'
import { noteList, type NoteRow, reserve, taskList, type TaskRow } from './responses.ts'
import { COOKIE_NAME, signCookie, verifyCookie } from './session-cookie.ts'
import {
  ADD_SESSION,
  ADD_TASK,
  FIND_SESSION,
  INCREMENT_COUNTER,
  LIST_NOTES,
  LIST_TASKS,
  LIST_TASKS_BY_STATUS,
  READ_COUNTER,
} from './sql-queries.ts'
import {
  Confirmation,
  Counter,
  NewTask,
  NoteList,
  NoteQuery,
  Reservation,
  ReservationErrors,
  SignIn,
  Status,
  Task,
  TaskList,
  TaskQuery,
} from './typebox-schemas.ts'

// This peer uses Fastify with TypeBox schemas for validation and serialization, and `pg` with prepared statements.

interface User {
  id: string
  email: string
}

declare module 'fastify' {
  interface FastifyRequest {
    user: User
  }
}

const { port, databaseUrl, secret, status } = readEnvironment()

types.setTypeParser(types.builtins.INT8, Number)
// Like Tallystick: the writes of the benchmark make the tables uneven, and PostgreSQL would plan each list again.
const options = '-c plan_cache_mode=force_generic_plan'
const pool = new Pool({ connectionString: databaseUrl, max: 10, options })

const query = async <Row extends object>(
  name: string,
  text: string,
  ...values: (string | number | undefined)[]
) => (await pool.query<Row>({ name, text, values })).rows

async function requireSession(request: FastifyRequest) {
  const token = verifyCookie(request.cookies[COOKIE_NAME], secret)
  const [user] = token === undefined ? [] : await query<User>('session', FIND_SESSION, token)
  if (!user) throw Object.assign(new Error('Sign in first'), { statusCode: 401 })
  request.user = user
}

const app = fastify({ logger: false }).withTypeProvider<TypeBoxTypeProvider>()
await app.register(cookie)
app.decorateRequest('user')

app.post('/api/auth/sign-in/email-otp', { schema: { body: SignIn } }, async ({ body }, reply) => {
  if (body.otp !== SIGN_IN_CODE) throw Object.assign(new Error('Invalid code'), { statusCode: 400 })
  const token = randomBytes(24).toString('base64url')
  await query('sign-in', ADD_SESSION, randomUUID(), token, body.email)
  return reply.header('set-cookie', signCookie(token, secret)).send({})
})

app.get('/api/status', { schema: { response: { 200: Status } } }, () => status)

app.post(
  '/api/reservations',
  { schema: { body: Reservation, response: { 200: Confirmation, 400: ReservationErrors } } },
  (request, reply) => {
    const { language, message, errors } = reserve(request.body, request.headers['accept-language'])
    reply.header('content-language', language)
    if (errors) void reply.code(400).send(errors)
    else void reply.send({ message })
  },
)

app.get('/api/counter', { schema: { response: { 200: Counter } } }, async () => {
  const [row] = await query<{ count: number }>('count', READ_COUNTER)
  return row
})

app.post('/api/counter/increment', { schema: { response: { 200: Counter } } }, async () => {
  const [row] = await query<{ count: number }>('increment', INCREMENT_COUNTER)
  return row
})

app.get(
  '/api/tasks',
  { preHandler: requireSession, schema: { querystring: TaskQuery, response: { 200: TaskList } } },
  async ({ user: { id }, query: { limit, status } }) =>
    taskList(
      status === undefined
        ? await query<TaskRow>('tasks', LIST_TASKS, id, limit)
        : await query<TaskRow>('tasks-by-status', LIST_TASKS_BY_STATUS, id, limit, status),
    ),
)

app.post(
  '/api/tasks',
  { preHandler: requireSession, schema: { body: NewTask, response: { 200: Task } } },
  async ({ user, body: { taskTitle, taskDesc } }) => {
    const [task] = await query<TaskRow>('add-task', ADD_TASK, user.id, taskTitle, taskDesc)
    return task
  },
)

app.get(
  '/api/notes',
  { preHandler: requireSession, schema: { querystring: NoteQuery, response: { 200: NoteList } } },
  async ({ user: { id, email }, query: { limit } }) =>
    noteList(await query<NoteRow>('notes', LIST_NOTES, id, email, limit), id),
)

await app.listen({ port, host: '127.0.0.1' })
reportListening()
