import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Answer {
  status: number
  headers: Headers
  body: string
}

/** What a caller does, in order: sends bytes, waits for some milliseconds, ends its own side, or goes. */
export type Step = Buffer | string | number | typeof END | typeof LEAVE
export const END = Symbol('end')
export const LEAVE = Symbol('leave')

export interface Talk {
  answers: Answer[]
  /** What came after the last whole answer. */
  rest: string
  /** Whether the server ended the connection. */
  closed: boolean
  /** In milliseconds. */
  took: number
}

export interface Wanted {
  /** How many answers are waited for; without it, the end of the connection. */
  answers?: number
  /** How long, in milliseconds. */
  patience: number
  /** What is asked has no body in its answer. */
  isHead?: boolean
}

/** Talks to a server in bytes of one's own. What is there after `patience` is all that there is. */
export async function talk(
  port: number,
  steps: Iterable<Step>,
  { answers: due = Infinity, patience, isHead = false }: Wanted,
): Promise<Talk> {
  const start = performance.now()
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const said: Buffer[] = []
  let closed = false
  let read = readAnswers('', isHead)
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, patience)
    const end = () => {
      closed = true
      clearTimeout(timer)
      resolve()
    }
    socket.on('data', (chunk) => {
      said.push(chunk)
      read = readAnswers(Buffer.concat(said).toString('latin1'), isHead)
      if (read.answers.length >= due) resolve()
    })
    socket.on('end', end).on('close', end)
    socket.on('error', () => undefined)
    void say(steps)
  })

  async function say(steps: Iterable<Step>) {
    for (const step of steps) {
      if (typeof step === 'number') await sleep(step)
      else if (!socket.writable) return
      else if (step === END) socket.end()
      else if (step === LEAVE) socket.destroy()
      else socket.write(step)
    }
  }

  socket.destroy()
  return { ...read, closed, took: performance.now() - start }
}

/** Takes whole answers off what a server has said; those that only announce another do not count. */
function readAnswers(said: string, isHead: boolean) {
  const answers: Answer[] = []
  let rest = said
  for (let next = readAnswer(rest, isHead); next; next = readAnswer(rest, isHead)) {
    if (next.answer.status >= 200) answers.push(next.answer)
    rest = next.rest
  }
  return { answers, rest }
}

function readAnswer(said: string, isHead: boolean) {
  const [, head = ''] = /^(HTTP\/1\.[^]*?\r\n)\r\n/.exec(said) ?? []
  if (head === '') return undefined
  const lines = head.matchAll(/^([\w-]+): *(.*?)\r$/gm)
  const headers = new Headers([...lines].map(([, name = '', value = '']): [string, string] => [name, value]))
  const status = Number(head.split(' ')[1])
  const rest = said.slice(head.length + 2)
  const isBare = isHead || status < 200 || status === 204 || status === 304
  const found = isBare ? { body: '', length: 0 } : readBody(headers, rest)
  if (!found) return undefined
  const answer: Answer = { status, headers, body: Buffer.from(found.body, 'latin1').toString() }
  return { answer, rest: rest.slice(found.length) }
}

/** A body, and how long it is on the wire; nothing where its end has not come. */
function readBody(headers: Headers, rest: string) {
  if (headers.has('transfer-encoding')) return readChunks(rest)
  const length = Number(headers.get('content-length') ?? 0)
  return rest.length < length ? undefined : { body: rest.slice(0, length), length }
}

function readChunks(rest: string) {
  const line = /([\da-f]+)\r\n/giy
  let body = ''
  for (let match = line.exec(rest); match; match = line.exec(rest)) {
    const size = parseInt(match[1] ?? '', 16)
    const end = line.lastIndex + size
    if (rest.length < end + 2) return undefined
    body += rest.slice(line.lastIndex, end)
    line.lastIndex = end + 2
    if (size === 0) return { body, length: end + 2 }
  }
  return undefined
}
