import fc from 'fast-check'

import type { Caller } from './request-part-arbitraries.ts'
import type { Said } from './protocol-checks.ts'
import { END, LEAVE, type Step } from './raw-http.ts'

/** What is random of a talk. */
interface Given {
  /** A good request with a body. */
  head: string
  body: string
  /** Somewhere in it. */
  cut: number
  bytes: Buffer
}

type Framing = Omit<Said, 'kind' | 'steps'> & { steps: (given: Given) => Step[] }

const END_OF_HEAD = '\r\n\r\n'
const status = 'GET /api/status HTTP/1.1\r\nhost: 127.0.0.1\r\n'
const post = 'POST /api/reservations HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n'
/** What must never be heard as a request. */
const inner = `GET /api/smuggled HTTP/1.1\r\nhost: 127.0.0.1${END_OF_HEAD}`

const whole = ({ head, body }: Given) => head + END_OF_HEAD + body
const answered = (steps: Framing['steps']): Framing => ({ steps, due: [1, 1] })
const refused = (...lines: string[]): Framing => ({
  steps: () => [post + lines.join('\r\n')],
  due: [1, 1],
  isLast: true,
  isRefused: true,
})
/** A body sent by one length while another is told, with a request in what is left over. */
const smuggled = (...lines: string[]) => refused(...lines, '', `0${END_OF_HEAD}${inner}`)
const chunked = (chunks: string) => refused('transfer-encoding: chunked', '', chunks + inner)

/** What the service answers, or ends, at once. */
export const framings: Record<string, Framing> = {
  'two ways to tell its length': smuggled('content-length: 5', 'transfer-encoding: chunked'),
  'two ways, the other first': smuggled('transfer-encoding: chunked', 'content-length: 5'),
  'two lengths': smuggled('content-length: 5', 'content-length: 50'),
  'a list of lengths': smuggled('content-length: 5, 5'),
  'a length with a sign': smuggled('content-length: +5'),
  'a negative length': smuggled('content-length: -5'),
  'a length in hexadecimal': smuggled('content-length: 0x5'),
  'a length with a blank': smuggled('content-length: 5 5'),
  'a length beyond all numbers': smuggled('content-length: 99999999999999999999'),
  'an unknown coding': smuggled('transfer-encoding: xchunked'),
  'a coding twice': smuggled('transfer-encoding: chunked', 'transfer-encoding: identity'),
  'a coding after chunks': smuggled('transfer-encoding: chunked, gzip'),
  'a coding behind a tab': smuggled('transfer-encoding:\x0bchunked'),
  'a blank before the colon': smuggled('transfer-encoding : chunked'),
  'a folded header': smuggled('x-some: thing', ' transfer-encoding: chunked', 'content-length: 5'),
  'bare line feeds': { ...refused(), steps: () => [`${status}x: y\n\n${inner}`] },
  'a line feed alone between headers': smuggled('x: y\ntransfer-encoding: chunked'),
  'a carriage return alone': smuggled('x: y\rtransfer-encoding: chunked'),
  'a NUL in a header': smuggled('x: y\0z'),
  'a header without a colon': smuggled('nonsense'),
  'a chunk beyond all numbers': chunked('ffffffffffffffffff\r\nx\r\n'),
  'a negative chunk': chunked('-1\r\nx\r\n'),
  'a chunk of no length': chunked('\r\nx\r\n'),
  'a chunk that is longer than it says': chunked('1\r\nxyz\r\n0\r\n\r\n'),
  'a chunk behind a line feed': chunked('1\nx\n0\n\n'),
  garbage: { steps: ({ bytes }) => [bytes, END_OF_HEAD, END], due: [0, 1] },
  'the hello of TLS': { ...refused(), steps: () => [Buffer.from('16030100a5010000a10303', 'hex')] },
  'the preface of HTTP/2': { ...refused(), steps: () => [`PRI * HTTP/2.0${END_OF_HEAD}SM${END_OF_HEAD}`] },
  'HTTP/0.9': answered(() => [`GET /api/status${END_OF_HEAD}`]),
  'HTTP/3.7': { ...refused(), steps: () => [`GET /api/status HTTP/3.7\r\nhost: 127.0.0.1${END_OF_HEAD}`] },
  'too many headers': { ...refused(), steps: () => [status, 'x: y\r\n'.repeat(10_000), '\r\n'] },
  'a long header': { ...refused(), steps: () => [status, `x: ${'y'.repeat(20_000)}`, END_OF_HEAD] },
  'a long address': {
    ...refused(),
    steps: () => [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x${END_OF_HEAD}`],
  },
  'HTTP/1.0': answered(() => [`GET /api/status HTTP/1.0${END_OF_HEAD}`]),
  'no host': answered(() => [`GET /api/status HTTP/1.1${END_OF_HEAD}`]),
  'two hosts': answered(() => [`${status}host: elsewhere.example${END_OF_HEAD}`]),
  'a host that is none': answered(() => [`GET /api/status HTTP/1.1\r\nhost: @:/[${END_OF_HEAD}`]),
  'the whole address': answered(() => [status.replace('/', 'https://elsewhere.example/') + END_OF_HEAD]),
  'an unknown expectation': answered(() => [`${status}expect: tea${END_OF_HEAD}`]),
  'a body that waits to be asked for': answered(({ head, body }) => [
    `${head}\r\nexpect: 100-continue${END_OF_HEAD}`,
    50,
    body,
  ]),
  'an extension to a chunk': answered(() => [
    `${post}transfer-encoding: chunked\r\n\r\n2;x="y"\r\n{}\r\n0\r\nx: y${END_OF_HEAD}`,
  ]),
  'a body that is too long': answered(() => [
    `${post}content-length: 1048577${END_OF_HEAD}`,
    'x'.repeat(100_000),
  ]),
  'chunks that are too long': answered(() => [
    `${post}transfer-encoding: chunked${END_OF_HEAD}`,
    `20000\r\n${'x'.repeat(131_072)}\r\n`.repeat(9),
  ]),
  'byte by byte': answered((given) => Array.from(Buffer.from(whole(given)), (byte) => Buffer.of(byte))),
  'a switch of protocols': answered(() => [
    `${status}connection: upgrade\r\nupgrade: websocket${END_OF_HEAD}`,
  ]),
  'a tunnel': {
    steps: () => [`CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: x${END_OF_HEAD}`],
    due: [0, 1],
  },
  'many at once': { steps: () => [`${status}\r\n`.repeat(8)], due: [8, 8] },
  'many, and garbage': { steps: ({ bytes }) => [`${status}\r\n`.repeat(8), bytes, END], due: [0, 9] },
  'a good request after a bad one': {
    steps: ({ head, body }) => [head + END_OF_HEAD + 'x'.repeat(body.length), `${status}\r\n`],
    due: [2, 2],
  },
  'cut, and left': { steps: (given) => [whole(given).slice(0, given.cut), LEAVE], due: [0, 0] },
  'cut, and ended': { steps: (given) => [whole(given).slice(0, given.cut), END], due: [0, 1] },
  'ended before it was answered': { steps: (given) => [whole(given), END], due: [0, 1] },
  'left before it was answered': { steps: (given) => [whole(given), LEAVE], due: [0, 0] },
}

/** What only a limit of time ends. */
export const unending: Record<string, Framing> = {
  'a head that never ends': answered(({ head, cut }) => [head.slice(0, 1 + (cut % head.length))]),
  'a body that never ends': answered(({ head, body, cut }) => [
    head + END_OF_HEAD + body.slice(0, cut % body.length),
  ]),
}

const all = { ...framings, ...unending }

interface Sample {
  kind: string
  cut: number
  noise: Uint8Array
}

/** A talk of one kind. */
export const frame =
  ({ kind, cut, noise }: Sample) =>
  ({ cookie, mark }: Pick<Caller, 'cookie' | 'mark'>): Said => {
    const body = JSON.stringify({ taskTitle: `word ${mark}` })
    const lines = [
      'POST /api/tasks HTTP/1.1',
      'host: 127.0.0.1',
      ...(cookie === '' ? [] : [`cookie: ${cookie}`]),
      'content-type: application/json',
      `content-length: ${body.length}`,
    ]
    const { steps, ...due } = all[kind] ?? answered((given) => [whole(given)])
    return { kind, steps: steps({ head: lines.join('\r\n'), body, cut, bytes: Buffer.from(noise) }), ...due }
  }

/** Talks of every kind. */
export const framed = fc
  .record<Sample>({
    kind: fc.constantFrom(...Object.keys(all)),
    cut: fc.nat(),
    noise: fc.uint8Array({ minLength: 1 }),
  })
  .map(frame)
