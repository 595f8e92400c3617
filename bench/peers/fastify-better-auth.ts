import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { fromNodeHeaders } from 'better-auth/node'
import { drizzle } from 'drizzle-orm/node-postgres'
import fastify, { type FastifyRequest } from 'fastify'
import { Pool } from 'pg'

import { createAuth } from '../better-auth.ts'
import { addTask, increment, listNotes, listTasks, readCounter } from '../drizzle-queries.ts'
import { readEnvironment, reportListening } from '../environment.ts'
import { noteList, reserve, taskBody, taskList } from '../responses.ts'
import {
  Confirmation,
  Counter,
  NewTask,
  NoteList,
  Reservation,
  ReservationErrors,
  Status,
  Task,
  TaskList,
} from '../typebox-schemas.ts'

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
const auth = createAuth(environment, db)

async function requireSession(request: FastifyRequest) {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
  if (!session) throw Object.assign(new Error('Sign in first'), { statusCode: 401 })
  request.user = session.user
}

const app = fastify({ logger: false }).withTypeProvider<TypeBoxTypeProvider>()
app.decorateRequest('user')

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
  const [row] = await readCounter(db)
  return row
})

app.post('/api/counter/increment', { schema: { response: { 200: Counter } } }, async () => {
  const [row] = await increment(db)
  return row
})

app.get(
  '/api/tasks',
  { preHandler: requireSession, schema: { response: { 200: TaskList } } },
  async ({ user }) => taskList(await listTasks(db, user.id)),
)

app.post(
  '/api/tasks',
  { preHandler: requireSession, schema: { body: NewTask, response: { 200: Task } } },
  async ({ user, body: { taskTitle, taskDesc } }) => {
    const [task] = await addTask(db, user.id, taskTitle, taskDesc)
    return task && taskBody(task)
  },
)

app.get(
  '/api/notes',
  { preHandler: requireSession, schema: { response: { 200: NoteList } } },
  async ({ user: { id, email } }) => noteList(await listNotes(db, id, email), id),
)

await app.listen({ port: environment.port, host: '127.0.0.1' })
reportListening()
