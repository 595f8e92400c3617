import cookie from '@fastify/cookie'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyRequest } from 'fastify'
import { Pool, types } from 'pg'

import { type NoteRow, noteList, reserve, type TaskRow, taskList, taskView } from '../responses.ts'
import { COOKIE, verifyCookie } from '../session-cookie.ts'
import { announce, readEnvironment } from '../environment.ts'
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
import { ADD_TASK, COUNT, INCREMENT, NOTES, SESSION, TASKS } from '../sql-queries.ts'

// Fastify and TypeBox, with requests validated and answers serialised by schema, on `pg` with named statements.

interface Person {
  id: string
  email: string
}

declare module 'fastify' {
  interface FastifyRequest {
    person: Person
  }
}

const { port, databaseUrl, secret, status } = readEnvironment()

types.setTypeParser(types.builtins.INT8, Number)
const pool = new Pool({ connectionString: databaseUrl, max: 10 })

const ask = async <Row extends object>(name: string, text: string, ...values: (string | undefined)[]) =>
  (await pool.query<Row>({ name, text, values })).rows

async function signedIn(request: FastifyRequest) {
  const token = verifyCookie(request.cookies[COOKIE], secret)
  const [person] = token === undefined ? [] : await ask<Person>('session', SESSION, token)
  if (!person) throw Object.assign(new Error('Sign in first'), { statusCode: 401 })
  request.person = person
}

const app = fastify({ logger: false }).withTypeProvider<TypeBoxTypeProvider>()
await app.register(cookie)
app.decorateRequest('person')

app.get('/api/status', { schema: { response: { 200: Status } } }, () => status)

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
  const [row] = await ask<{ count: number }>('count', COUNT)
  return row
})

app.post('/api/counter/increment', { schema: { response: { 200: Counter } } }, async () => {
  const [row] = await ask<{ count: number }>('increment', INCREMENT)
  return row
})

app.get('/api/tasks', { preHandler: signedIn, schema: { response: { 200: TaskList } } }, async ({ person }) =>
  taskList(await ask<TaskRow>('tasks', TASKS, person.id)),
)

app.post(
  '/api/tasks',
  { preHandler: signedIn, schema: { body: NewTask, response: { 200: Task } } },
  async ({ person, body: { taskTitle, taskDesc } }) => {
    const [task] = await ask<TaskRow>('add-task', ADD_TASK, person.id, taskTitle, taskDesc)
    return task && taskView(task)
  },
)

app.get(
  '/api/notes',
  { preHandler: signedIn, schema: { response: { 200: NoteList } } },
  async ({ person: { id, email } }) => noteList(await ask<NoteRow>('notes', NOTES, id, email), id),
)

await app.listen({ port, host: '127.0.0.1' })
announce()
