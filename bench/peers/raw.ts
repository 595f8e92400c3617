import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import postgres from 'postgres'

import { readEnvironment, reportListening } from '../environment.ts'
import { noteList, type NoteRow, reserve, taskBody, taskList, type TaskRow } from '../responses.ts'
import { COOKIE_NAME, verifyCookie } from '../session-cookie.ts'
import {
  ADD_TASK,
  FIND_SESSION,
  INCREMENT_COUNTER,
  LIST_NOTES,
  LIST_TASKS,
  READ_COUNTER,
} from '../sql-queries.ts'

// Shows the lowest possible cost of a request: node:http and postgres.js with hand-written statements, without a
// framework.

interface User {
  id: string
  email: string
}

class HttpError extends Error {
  readonly status: number
  constructor(status: number) {
    super(`status ${status}`)
    this.status = status
  }
}

const { port, databaseUrl, secret, status } = readEnvironment()

// Two connections are sufficient, because postgres.js pipelines statements on each connection. With more connections,
// small statements are slower.
const sql = postgres(databaseUrl, {
  max: 2,
  types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
})

// Sets `prepare` explicitly, because postgres.js by default does not prepare statements without parameters.
const prepared = { prepare: true, simple: false }

const query = <Row extends object>(text: string, ...values: (string | null)[]) =>
  sql.unsafe<Row[]>(text, values, prepared)

const cookieValue = new RegExp(`(?:^|;\\s*)${COOKIE_NAME.replace('.', '\\.')}=([^;]*)`)

async function userOf({ headers }: IncomingMessage) {
  const value = cookieValue.exec(headers.cookie ?? '')?.[1]
  const token = verifyCookie(value && decodeURIComponent(value), secret)
  const [user] = token === undefined ? [] : await query<User>(FIND_SESSION, token)
  if (!user) throw new HttpError(401)
  return user
}

const readText = (request: IncomingMessage) =>
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

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const text = await readText(request)
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return { ...body }
  } catch {
    // Ignores the error of malformed JSON. The `throw` below rejects malformed JSON and all other invalid bodies.
  }
  throw new HttpError(400)
}

async function count(statement: string) {
  const [row] = await query<{ count: number }>(statement)
  return row
}

async function addTask(request: IncomingMessage) {
  const { id } = await userOf(request)
  const { taskTitle, taskDesc = null } = await readBody(request)
  if (typeof taskTitle !== 'string' || taskTitle === '') throw new HttpError(400)
  if (typeof taskDesc !== 'string' && taskDesc !== null) throw new HttpError(400)
  const [task] = await query<TaskRow>(ADD_TASK, id, taskTitle, taskDesc)
  return task && taskBody(task)
}

async function addReservation(request: IncomingMessage, response: ServerResponse) {
  const { name, guests } = await readBody(request)
  if (typeof name !== 'string' || typeof guests !== 'number') throw new HttpError(400)
  const { language, message, errors } = reserve({ name, guests }, request.headers['accept-language'])
  response.setHeader('content-language', language)
  if (errors) response.statusCode = 400
  return errors ?? { message }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => object | Promise<object | undefined>

const routes: Partial<Record<string, Handler>> = {
  'GET /api/status': () => status,
  'POST /api/reservations': addReservation,
  'GET /api/counter': () => count(READ_COUNTER),
  'POST /api/counter/increment': () => count(INCREMENT_COUNTER),
  'GET /api/tasks': async (request) => taskList(await query<TaskRow>(LIST_TASKS, (await userOf(request)).id)),
  'POST /api/tasks': addTask,
  'GET /api/notes': async (request) => {
    const { id, email } = await userOf(request)
    return noteList(await query<NoteRow>(LIST_NOTES, id, email), id)
  },
}

function send(response: ServerResponse, status: number, value: object) {
  const text = JSON.stringify(value)
  const length = Buffer.byteLength(text)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length }).end(text)
}

function fail(response: ServerResponse, error: unknown) {
  const isHttpError = error instanceof HttpError
  send(response, isHttpError ? error.status : 500, {
    message: isHttpError ? error.message : 'Internal server error',
  })
}

function respond(request: IncomingMessage, response: ServerResponse) {
  const handler = routes[`${request.method ?? ''} ${request.url ?? ''}`]
  if (!handler) {
    fail(response, new HttpError(404))
    return
  }
  const result = handler(request, response)
  if (result instanceof Promise)
    result.then(
      (value) => {
        send(response, response.statusCode, value ?? {})
      },
      (error: unknown) => {
        fail(response, error)
      },
    )
  else send(response, 200, result)
}

createServer(respond).listen(port, '127.0.0.1', reportListening)
