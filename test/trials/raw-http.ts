import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface RawResponse {
  status: number
  headers: Headers
  body: string
}

/**
 * A step of a client: bytes to send, a pause in milliseconds, `HALF_CLOSE` to close the sending side of the connection
 * (FIN), or `DESTROY` to close the socket.
 */
export type Step = Buffer | string | number | typeof HALF_CLOSE | typeof DESTROY
export const HALF_CLOSE = Symbol('end')
export const DESTROY = Symbol('leave')

export interface Exchange {
  responses: RawResponse[]
  /** Bytes after the last complete response. */
  rest: string
  /** Whether the server closed the connection. */
  closed: boolean
  /** In milliseconds. */
  duration: number
}

export interface ExchangeOptions {
  /** Number of responses to wait for (default: until the server closes the connection). */
  responses?: number
  /** In milliseconds. */
  timeout: number
  /** The responses have no body (HEAD). */
  isHead?: boolean
}

/** Sends raw bytes to a server and parses the responses. When `timeout` expires, returns the responses so far. */
export async function exchange(
  port: number,
  steps: Iterable<Step>,
  { responses: expected = Infinity, timeout, isHead = false }: ExchangeOptions,
): Promise<Exchange> {
  const start = performance.now()
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const received: Buffer[] = []
  let closed = false
  let parsed = readResponses('', isHead)
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, timeout)
    const end = () => {
      closed = true
      clearTimeout(timer)
      resolve()
    }
    socket.on('data', (chunk) => {
      received.push(chunk)
      parsed = readResponses(Buffer.concat(received).toString('latin1'), isHead)
      if (parsed.responses.length >= expected) resolve()
    })
    socket.on('end', end).on('close', end)
    socket.on('error', () => undefined)
    void send(steps)
  })

  async function send(steps: Iterable<Step>) {
    for (const step of steps) {
      if (typeof step === 'number') await sleep(step)
      else if (!socket.writable) return
      else if (step === HALF_CLOSE) socket.end()
      else if (step === DESTROY) socket.destroy()
      else socket.write(step)
    }
  }

  socket.destroy()
  return { ...parsed, closed, duration: performance.now() - start }
}

/** Parses the complete responses. Omits informational responses (1xx). */
function readResponses(text: string, isHead: boolean) {
  const responses: RawResponse[] = []
  let rest = text
  for (let next = readResponse(rest, isHead); next; next = readResponse(rest, isHead)) {
    if (next.response.status >= 200) responses.push(next.response)
    rest = next.rest
  }
  return { responses, rest }
}

function readResponse(text: string, isHead: boolean) {
  const [, head = ''] = /^(HTTP\/1\.[^]*?\r\n)\r\n/.exec(text) ?? []
  if (head === '') return undefined
  const lines = head.matchAll(/^([\w-]+): *(.*?)\r$/gm)
  const headers = new Headers([...lines].map(([, name = '', value = '']): [string, string] => [name, value]))
  const status = Number(head.split(' ')[1])
  const rest = text.slice(head.length + 2)
  const hasNoBody = isHead || status < 200 || status === 204 || status === 304
  const content = hasNoBody ? { body: '', length: 0 } : readBody(headers, rest)
  if (!content) return undefined
  const response: RawResponse = { status, headers, body: Buffer.from(content.body, 'latin1').toString() }
  return { response, rest: rest.slice(content.length) }
}

/** Returns the decoded body and its encoded length, or `undefined` if the body is incomplete. */
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
