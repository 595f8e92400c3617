import { type Agent, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'

/**
 * What a request does: changes in one statement (`step`, `task`, `note`), changes in a transaction (`once` under an
 * `Idempotency-Key`, `match` under `If-Match`, `share`), a reading in a transaction (`export`), and plain readings.
 */
export type Work = 'step' | 'task' | 'note' | 'once' | 'match' | 'share' | 'export' | 'count' | 'own'

/** One request and what became of it. What is `refused` (503) or `broken` (no answer) may have been done all the same. */
export interface Entry {
  work: Work
  /** Of the task or note; the new description of a task under `If-Match`. */
  title: string
  origin: string
  outcome: 'answered' | 'refused' | 'broken' | 'unreached' | 'wrong'
  /** When it ended, in epoch milliseconds. */
  at: number
  /** In milliseconds. */
  took: number
  count?: number
  id?: number | string | undefined
  tag?: string | undefined
  /** What was wrong with it. */
  told?: string
}

export interface Question {
  agent: Agent
  origin: string
  cookie: string
  work: Work
  title: string
  /** Of the task that is read or changed, or the note that is shared. */
  id?: Entry['id']
  /** The state of that task, as `ETag` names it. */
  tag?: string | undefined
  /** The highest value of the counter that anybody was told before. */
  highest: number
}

const Body = z.object({
  id: z.union([z.int(), z.string()]).optional(),
  title: z.string().optional(),
  description: z.string().nullish(),
  account: z.object({ email: z.string() }).optional(),
  count: z.int().optional(),
  code: z.string().optional(),
})

type Told = Pick<Entry, 'outcome' | 'count' | 'id' | 'tag' | 'told'>

/** Nobody waits for ever, in milliseconds: beyond any limit of the service. */
const PATIENCE = 60_000

/** Whom every note is shared with. */
export const FRIEND = 'friend@example.com'

type Wire = [method: string, path: string, body?: object, headers?: Record<string, string>]

const wires = {
  step: () => ['POST', '/api/counter/increment'],
  task: ({ title }) => ['POST', '/api/tasks', { taskTitle: title }],
  note: ({ title }) => ['POST', '/api/notes', { title, body: '' }],
  once: ({ title }) => [
    'POST',
    '/api/tasks',
    { taskTitle: title },
    { 'idempotency-key': title.replaceAll(' ', '-') },
  ],
  match: ({ title, id, tag = '' }) => [
    'PATCH',
    `/api/tasks/${id ?? ''}`,
    { description: title },
    { 'if-match': tag },
  ],
  share: ({ id }) => ['POST', `/api/notes/${id ?? ''}/share`, { email: FRIEND, role: 'reader' }],
  export: () => ['GET', '/api/me/export'],
  count: () => ['GET', '/api/counter'],
  own: ({ id }) => ['GET', `/api/tasks/${id ?? ''}`],
} satisfies Record<Work, (question: Question) => Wire>

/** Asks once, on a connection that is kept, and judges the answer. Never rejects. */
export async function ask(question: Question): Promise<Entry> {
  const { work, title, id, origin } = question
  const started = Date.now()
  const told = await send(question).catch(brokenBy)
  const at = Date.now()
  return { work, title, id, origin, at, took: at - started, ...told }
}

const send = (question: Question) =>
  new Promise<Told>((resolve, reject) => {
    const { agent, origin, cookie, work } = question
    const [method, path, body, own]: Wire = wires[work](question)
    const headers = { cookie, ...(body && { 'content-type': 'application/json' }), ...own }
    const call = request(origin + path, { agent, method, headers, timeout: PATIENCE }, (response) => {
      json(response).then((answer) => {
        const { statusCode = 0, headers } = response
        resolve({ ...judge(question, statusCode, Body.parse(answer)), tag: headers.etag })
      }, reject)
    })
    call.on('timeout', () => call.destroy()).on('error', reject)
    call.end(body && JSON.stringify(body))
  })

function judge(question: Question, status: number, body: z.infer<typeof Body>): Told {
  const { id, count, code } = body
  // An earlier request under the same key may still be under way.
  const isRefused = status === 503 ? code === 'SERVICE_UNAVAILABLE' : code === 'UNDER_WAY'
  if (isRefused) return { outcome: 'refused' }
  const others: Partial<Record<Work, unknown>> = { match: body.description, export: body.account?.email }
  const title = others[question.work] ?? body.title
  const isRight =
    (status === 200 || status === 201) &&
    (count === undefined ? title === question.title : count >= question.highest)
  if (isRight) return { outcome: 'answered', id, count }
  return {
    outcome: 'wrong',
    told: JSON.stringify({ status, id, title, count, code, expected: question.title }),
  }
}

/** A connection that was refused has carried nothing; any other end leaves open what was done. */
const brokenBy = (error: NodeJS.ErrnoException): Told =>
  error.code === 'ECONNREFUSED'
    ? { outcome: 'unreached' }
    : { outcome: 'broken', told: error.code ?? error.message }
