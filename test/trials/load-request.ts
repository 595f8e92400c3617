import { type Agent, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'

/**
 * The kinds of requests: changes in one statement (`increment`, `createTask`, `createNote`), changes in a transaction
 * (`createTaskOnce` with an `Idempotency-Key`, `updateTask` with `If-Match`, `shareNote`), a read in a transaction
 * (`export`), and other reads.
 */
export type RequestKind =
  | 'increment'
  | 'createTask'
  | 'createNote'
  | 'createTaskOnce'
  | 'updateTask'
  | 'shareNote'
  | 'export'
  | 'readCounter'
  | 'readTask'

/**
 * A request and its outcome. The service may have executed the request if the outcome is `refused` (503 or UNDER_WAY)
 * or `broken` (no response).
 */
export interface RequestRecord {
  kind: RequestKind
  /** Title of the task or note; for `updateTask` the new description. */
  title: string
  origin: string
  outcome: 'answered' | 'refused' | 'broken' | 'unreached' | 'wrong'
  /** In epoch milliseconds. */
  endedAt: number
  /** In milliseconds. */
  duration: number
  count?: number
  id?: number | string | undefined
  /** The entity tag of the response. */
  tag?: string | undefined
  /** Describes a wrong response or a connection failure. */
  detail?: string
}

export interface LoadRequest {
  agent: Agent
  origin: string
  cookie: string
  kind: RequestKind
  title: string
  /** Id of the task to read or update, or of the note to share. */
  id?: RequestRecord['id']
  /** The known entity tag of the task to update. */
  tag?: string | undefined
  /** The highest value of the counter in any earlier response. */
  highestCount: number
}

const Body = z.object({
  id: z.union([z.int(), z.string()]).optional(),
  title: z.string().optional(),
  description: z.string().nullish(),
  account: z.object({ email: z.string() }).optional(),
  count: z.int().optional(),
  code: z.string().optional(),
})

type Verdict = Pick<RequestRecord, 'outcome' | 'count' | 'id' | 'tag' | 'detail'>

/** Longer than any time limit of the service, in milliseconds. */
const TIMEOUT = 60_000

/** Every note is shared with this address. */
export const FRIEND = 'friend@example.com'

type HttpRequest = [method: string, path: string, body?: object, headers?: Record<string, string>]

const httpRequests = {
  increment: () => ['POST', '/api/counter/increment'],
  createTask: ({ title }) => ['POST', '/api/tasks', { taskTitle: title }],
  createNote: ({ title }) => ['POST', '/api/notes', { title, body: '' }],
  createTaskOnce: ({ title }) => [
    'POST',
    '/api/tasks',
    { taskTitle: title },
    { 'idempotency-key': title.replaceAll(' ', '-') },
  ],
  updateTask: ({ title, id, tag = '' }) => [
    'PATCH',
    `/api/tasks/${id ?? ''}`,
    { description: title },
    { 'if-match': tag },
  ],
  shareNote: ({ id }) => ['POST', `/api/notes/${id ?? ''}/share`, { email: FRIEND, role: 'reader' }],
  export: () => ['GET', '/api/me/export'],
  readCounter: () => ['GET', '/api/counter'],
  readTask: ({ id }) => ['GET', `/api/tasks/${id ?? ''}`],
} satisfies Record<RequestKind, (request: LoadRequest) => HttpRequest>

/** Sends one request on a persistent connection and checks the response. The returned promise never rejects. */
export async function sendLoadRequest(loadRequest: LoadRequest): Promise<RequestRecord> {
  const { kind, title, id, origin } = loadRequest
  const startedAt = Date.now()
  const verdict = await send(loadRequest).catch(connectionFailure)
  const endedAt = Date.now()
  return { kind, title, id, origin, endedAt, duration: endedAt - startedAt, ...verdict }
}

const send = (loadRequest: LoadRequest) =>
  new Promise<Verdict>((resolve, reject) => {
    const { agent, origin, cookie, kind } = loadRequest
    const [method, path, body, ownHeaders]: HttpRequest = httpRequests[kind](loadRequest)
    const headers = { cookie, ...(body && { 'content-type': 'application/json' }), ...ownHeaders }
    const outgoing = request(origin + path, { agent, method, headers, timeout: TIMEOUT }, (response) => {
      json(response).then((value) => {
        const { statusCode = 0, headers } = response
        resolve({ ...judge(loadRequest, statusCode, Body.parse(value)), tag: headers.etag })
      }, reject)
    })
    outgoing.on('timeout', () => outgoing.destroy()).on('error', reject)
    outgoing.end(body && JSON.stringify(body))
  })

function judge(loadRequest: LoadRequest, status: number, body: z.infer<typeof Body>): Verdict {
  const { id, count, code } = body
  // The code UNDER_WAY means that an earlier request with the same idempotency key is still running.
  const isRefused = status === 503 ? code === 'SERVICE_UNAVAILABLE' : code === 'UNDER_WAY'
  if (isRefused) return { outcome: 'refused' }
  const otherTitles: Partial<Record<RequestKind, unknown>> = {
    updateTask: body.description,
    export: body.account?.email,
  }
  const title = otherTitles[loadRequest.kind] ?? body.title
  const isCorrect =
    (status === 200 || status === 201) &&
    (count === undefined ? title === loadRequest.title : count >= loadRequest.highestCount)
  if (isCorrect) return { outcome: 'answered', id, count }
  return {
    outcome: 'wrong',
    detail: JSON.stringify({ status, id, title, count, code, expected: loadRequest.title }),
  }
}

/** ECONNREFUSED proves that the service has not received the request. Other errors do not prove this. */
const connectionFailure = (error: NodeJS.ErrnoException): Verdict =>
  error.code === 'ECONNREFUSED'
    ? { outcome: 'unreached' }
    : { outcome: 'broken', detail: error.code ?? error.message }
