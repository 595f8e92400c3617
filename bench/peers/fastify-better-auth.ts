import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { fromNodeHeaders } from 'better-auth/node'
import { drizzle } from 'drizzle-orm/node-postgres'
import fastify, { type FastifyRequest } from 'fastify'
import { Pool } from 'pg'

import { noteList, reserve, taskList, taskView } from '../responses.ts'
import { createAuth } from '../better-auth.ts'
import { announce, readEnvironment } from '../environment.ts'
import { addTask, increment, listNotes, listTasks, readCounter } from '../drizzle-queries.ts'
import {
  Counter,
  NewTask,
  NoteList,
  Refused,
  Reservation,
  Reserved,
  Status,
  Task,
  TaskList,
} from '../typebox-schemas.ts'

// Fastify and TypeBox, with better-auth to say who calls, and drizzle on `pg`.

interface Person {
  id: string
  email: string
}

declare module 'fastify' {
  interface FastifyRequest {
    person: Person
  }
}

const environment = readEnvironment()

const pool = new Pool({ connectionString: environment.databaseUrl, max: 10 })
const db = drizzle(pool, { casing: 'snake_case' })
const auth = createAuth(environment, db)

async function signedIn(request: FastifyRequest) {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
  if (!session) throw Object.assign(new Error('Sign in first'), { statusCode: 401 })
  request.person = session.user
}

const app = fastify({ logger: false }).withTypeProvider<TypeBoxTypeProvider>()
app.decorateRequest('person')

app.get('/api/status', { schema: { response: { 200: Status } } }, () => environment.status)

app.post(
  '/api/reservations',
  { schema: { body: Reservation, response: { 200: Reserved, 400: Refused } } },
  (request, reply) => {
    const { language, message, wrong } = reserve(request.body, request.headers['accept-language'])
    reply.header('content-language', language)
    if (wrong) void reply.code(400).send(wrong)
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

app.get('/api/tasks', { preHandler: signedIn, schema: { response: { 200: TaskList } } }, async ({ person }) =>
  taskList(await listTasks(db, person.id)),
)

app.post(
  '/api/tasks',
  { preHandler: signedIn, schema: { body: NewTask, response: { 200: Task } } },
  async ({ person, body: { taskTitle, taskDesc } }) => {
    const [task] = await addTask(db, person.id, taskTitle, taskDesc)
    return task && taskView(task)
  },
)

app.get(
  '/api/notes',
  { preHandler: signedIn, schema: { response: { 200: NoteList } } },
  async ({ person: { id, email } }) => noteList(await listNotes(db, id, email), id),
)

await app.listen({ port: environment.port, host: '127.0.0.1' })
announce()
