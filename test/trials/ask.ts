import { type Agent, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'

/** What is asked: three changes, and two readings, of what everybody and of what oneself has done. */
export type Work = 'step' | 'task' | 'note' | 'count' | 'own'

/** One request and what became of it. What is `refused` (503) or `broken` (no answer) may have been done all the same. */
export interface Entry {
  work: Work
  /** Of the task or note. */
  title: string
  origin: string
  outcome: 'answered' | 'refused' | 'broken' | 'unreached' | 'wrong'
  /** When it ended, in epoch milliseconds. */
  at: number
  /** In milliseconds. */
  took: number
  count?: number
  id?: number | string
  /** What was wrong with it. */
  told?: string
}

export interface Question {
  agent: Agent
  origin: string
  cookie: string
  work: Work
  title: string
  /** Of the task that is read. */
  id?: Entry['id']
  /** The highest value of the counter that anybody was told before. */
  highest: number
}

const Body = z.object({
  id: z.union([z.int(), z.string()]).optional(),
  title: z.string().optional(),
  count: z.int().optional(),
  code: z.string().optional(),
})

type Told = Pick<Entry, 'outcome' | 'count' | 'id' | 'told'>

/** Nobody waits for ever, in milliseconds: beyond any limit of the service. */
const PATIENCE = 60_000

const wires = {
  step: () => ['POST', '/api/counter/increment'],
  task: ({ title }) => ['POST', '/api/tasks', { taskTitle: title }],
  note: ({ title }) => ['POST', '/api/notes', { title, body: '' }],
  count: () => ['GET', '/api/counter'],
  own: ({ id }) => ['GET', `/api/tasks/${id ?? ''}`],
} satisfies Record<Work, (question: Question) => [method: string, path: string, body?: object]>

/** Asks once, on a connection that is kept, and judges the answer. Never rejects. */
export async function ask(question: Question): Promise<Entry> {
  const { work, title, origin } = question
  const started = Date.now()
  const told = await send(question).catch(brokenBy)
  const at = Date.now()
  return { work, title, origin, at, took: at - started, ...told }
}

const send = (question: Question) =>
  new Promise<Told>((resolve, reject) => {
    const { agent, origin, cookie, work } = question
    const [method, path, body] = wires[work](question)
    const headers = { cookie, ...(body && { 'content-type': 'application/json' }) }
    const call = request(origin + path, { agent, method, headers, timeout: PATIENCE }, (response) => {
      json(response).then((answer) => {
        resolve(judge(question, response.statusCode ?? 0, Body.parse(answer)))
      }, reject)
    })
    call.on('timeout', () => call.destroy()).on('error', reject)
    call.end(body && JSON.stringify(body))
  })

function judge(question: Question, status: number, { id, title, count, code }: z.infer<typeof Body>): Told {
  if (status === 503 && code === 'SERVICE_UNAVAILABLE') return { outcome: 'refused' }
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
