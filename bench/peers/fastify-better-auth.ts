import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { fromNodeHeaders } from 'better-auth/node'
import { drizzle } from 'drizzle-orm/node-postgres'
import fastify, { type FastifyRequest } from 'fastify'
import { Pool } from 'pg'

import { createAuth } from './better-auth.ts'
import { prepareQueries } from './drizzle-queries.ts'
import { readEnvironment, reportListening } from '../environment.ts'
import { noteList, reserve, taskList } from './responses.ts'
import {
  Confirmation,
  Counter,
  NewTask,
  NoteList,
  NoteQuery,
  Reservation,
  ReservationErrors,
  Status,
  Task,
  TaskList,
  TaskQuery,
} from './typebox-schemas.ts'

// Fastify with TypeBox, authentication by better-auth, and Drizzle on `pg`.

interface User {
  id: string
  email: string
}

declare module 'fastify' {
  interface FastifyRequest {
    user: User
  }
}

const environment = readEnvironment()

const pool = new Pool({ connectionString: environment.databaseUrl, max: 10 })
const db = drizzle(pool, { casing: 'snake_case' })
const queries = prepareQueries(db)
const auth = createAuth(environment, db)

async function requireSession(request: FastifyRequest) {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
  if (!session) throw Object.assign(new Error('Sign in first'), { statusCode: 401 })
  request.user = session.user
}

const app = fastify({ logger: false }).withTypeProvider<TypeBoxTypeProvider>()
app.decorateRequest('user')

// As in the documentation of better-auth for Fastify.
app.post('/api/auth/*', async (request, reply) => {
  const url = new URL(request.url, environment.baseUrl)
  const body = JSON.stringify(request.body)
  const response = await auth.handler(
    new Request(url, { method: 'POST', headers: fromNodeHeaders(request.headers), body }),
  )
  return reply
    .code(response.status)
    .headers(Object.fromEntries(response.headers))
    .send(await response.text())
})

app.get('/api/status', { schema: { response: { 200: Status } } }, () => environment.status)

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
  const [row] = await queries.readCounter.execute()
  return row
})

app.post('/api/counter/increment', { schema: { response: { 200: Counter } } }, async () => {
  const [row] = await queries.increment.execute()
  return row
})

app.get(
  '/api/tasks',
  { preHandler: requireSession, schema: { querystring: TaskQuery, response: { 200: TaskList } } },
  async ({ user: { id: userId }, query: { limit, status } }) =>
    taskList(
      status === undefined
        ? await queries.listTasks.execute({ userId, limit })
        : await queries.listTasksByStatus.execute({ userId, limit, status }),
    ),
)

app.post(
  '/api/tasks',
  { preHandler: requireSession, schema: { body: NewTask, response: { 200: Task } } },
  async ({ user, body: { taskTitle, taskDesc = null } }) => {
    const [task] = await queries.addTask.execute({ userId: user.id, taskTitle, taskDesc })
    return task
  },
)

app.get(
  '/api/notes',
  { preHandler: requireSession, schema: { querystring: NoteQuery, response: { 200: NoteList } } },
  async ({ user: { id: userId, email }, query: { limit } }) =>
    noteList(await queries.listNotes.execute({ userId, email, limit }), userId),
)

await app.listen({ port: environment.port, host: '127.0.0.1' })
reportListening()
