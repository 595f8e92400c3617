import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import postgres from 'postgres'

import { type NoteRow, noteList, reserve, type TaskRow, taskList, taskView } from '../responses.ts'
import { COOKIE, verifyCookie } from '../session-cookie.ts'
import { announce, readEnvironment } from '../environment.ts'
import { ADD_TASK, COUNT, INCREMENT, NOTES, SESSION, TASKS } from '../sql-queries.ts'

// The floor: node:http and postgres.js, every statement by hand, nothing in between.

interface Person {
  id: string
  email: string
}

class Refusal extends Error {
  readonly status: number
  constructor(status: number) {
    super(`refused with ${status}`)
    this.status = status
  }
}

const { port, databaseUrl, secret, status } = readEnvironment()

// Few connections: postgres.js pipelines on each, and more make small statements slower.
const sql = postgres(databaseUrl, {
  max: 2,
  types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
})

// Told so, since postgres.js prepares no statement without values.
const prepared = { prepare: true, simple: false }

const ask = <Row extends object>(text: string, ...values: (string | null)[]) =>
  sql.unsafe<Row[]>(text, values, prepared)

const cookieValue = new RegExp(`(?:^|;\\s*)${COOKIE.replace('.', '\\.')}=([^;]*)`)

async function personOf({ headers }: IncomingMessage) {
  const value = cookieValue.exec(headers.cookie ?? '')?.[1]
  const token = verifyCookie(value && decodeURIComponent(value), secret)
  const [person] = token === undefined ? [] : await ask<Person>(SESSION, token)
  if (!person) throw new Refusal(401)
  return person
}

const textOf = (request: IncomingMessage) =>
  new Promise<string>((resolve, reject) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      resolve(text)
    })
    request.on('error', reject)
  })

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const text = await textOf(request)
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return { ...body }
  } catch {
    // Refused below, like any other body that is no object.
  }
  throw new Refusal(400)
}

async function count(statement: string) {
  const [row] = await ask<{ count: number }>(statement)
  return row
}

async function addTask(request: IncomingMessage) {
  const { id } = await personOf(request)
  const { taskTitle, taskDesc = null } = await bodyOf(request)
  if (typeof taskTitle !== 'string' || taskTitle === '') throw new Refusal(400)
  if (typeof taskDesc !== 'string' && taskDesc !== null) throw new Refusal(400)
  const [task] = await ask<TaskRow>(ADD_TASK, id, taskTitle, taskDesc)
  return task && taskView(task)
}

async function addReservation(request: IncomingMessage, response: ServerResponse) {
  const { name, guests } = await bodyOf(request)
  if (typeof name !== 'string' || typeof guests !== 'number') throw new Refusal(400)
  const { language, message, wrong } = reserve({ name, guests }, request.headers['accept-language'])
  response.setHeader('content-language', language)
  if (wrong) response.statusCode = 400
  return wrong ?? { message }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => object | Promise<object | undefined>

const routes: Partial<Record<string, Handler>> = {
  'GET /api/status': () => status,
  'POST /api/reservations': addReservation,
  'GET /api/counter': () => count(COUNT),
  'POST /api/counter/increment': () => count(INCREMENT),
  'GET /api/tasks': async (request) => taskList(await ask<TaskRow>(TASKS, (await personOf(request)).id)),
  'POST /api/tasks': addTask,
  'GET /api/notes': async (request) => {
    const { id, email } = await personOf(request)
    return noteList(await ask<NoteRow>(NOTES, id, email), id)
  },
}

function send(response: ServerResponse, status: number, value: object) {
  const text = JSON.stringify(value)
  const length = Buffer.byteLength(text)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length }).end(text)
}

function fail(response: ServerResponse, error: unknown) {
  const known = error instanceof Refusal
  send(response, known ? error.status : 500, { message: known ? error.message : 'Something failed' })
}

function respond(request: IncomingMessage, response: ServerResponse) {
  const handler = routes[`${request.method ?? ''} ${request.url ?? ''}`]
  if (!handler) {
    fail(response, new Refusal(404))
    return
  }
  const answer = handler(request, response)
  if (answer instanceof Promise)
    answer.then(
      (value) => {
        send(response, response.statusCode, value ?? {})
      },
      (error: unknown) => {
        fail(response, error)
      },
    )
  else send(response, 200, answer)
}

createServer(respond).listen(port, '127.0.0.1', announce)
