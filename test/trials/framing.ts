import fc from 'fast-check'

import type { ExpectedExchange } from './protocol-checks.ts'
import { DESTROY, HALF_CLOSE, type Step } from '../../engine/test/fixtures/raw-http.ts'
import type { Caller } from './request-part-arbitraries.ts'

/** The values from which a framing builds the bytes of an exchange. */
interface FramingInput {
  /** Header and body of a valid request. */
  head: string
  body: string
  /** A random number. A framing uses this number to compute an offset within the request. */
  cut: number
  bytes: Buffer
}

type Framing = Omit<ExpectedExchange, 'kind' | 'steps'> & { steps: (input: FramingInput) => Step[] }

const END_OF_HEAD = '\r\n\r\n'
const status = 'GET /api/status HTTP/1.1\r\nhost: 127.0.0.1\r\n'
const post = 'POST /api/reservations HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n'
/** A request hidden in the body of another request (request smuggling). The service must never handle this request. */
const smuggledRequest = `GET /api/smuggled HTTP/1.1\r\nhost: 127.0.0.1${END_OF_HEAD}`

const serialize = ({ head, body }: FramingInput) => head + END_OF_HEAD + body
const answeredOnce = (steps: Framing['steps']): Framing => ({ steps, responses: [1, 1] })
const refused = (...lines: string[]): Framing => ({
  steps: () => [post + lines.join('\r\n')],
  responses: [1, 1],
  endsConnection: true,
  mustBeRefused: true,
})
/**
 * A request with contradictory or invalid headers. If the service ignored the error, it could handle the smuggled
 * request in the body.
 */
const smuggled = (...lines: string[]) => refused(...lines, '', `0${END_OF_HEAD}${smuggledRequest}`)
const chunked = (chunks: string) => refused('transfer-encoding: chunked', '', chunks + smuggledRequest)

/** Kinds of malformed or unusual requests. The service immediately responds, or closes the connection. */
export const framings: Record<string, Framing> = {
  'content-length and chunked': smuggled('content-length: 5', 'transfer-encoding: chunked'),
  'chunked and content-length': smuggled('transfer-encoding: chunked', 'content-length: 5'),
  'two content-length headers': smuggled('content-length: 5', 'content-length: 50'),
  'a list as content-length': smuggled('content-length: 5, 5'),
  'a content-length with a sign': smuggled('content-length: +5'),
  'a negative content-length': smuggled('content-length: -5'),
  'a hexadecimal content-length': smuggled('content-length: 0x5'),
  'a content-length with a space': smuggled('content-length: 5 5'),
  'a content-length above the safe integers': smuggled('content-length: 99999999999999999999'),
  'an unknown transfer coding': smuggled('transfer-encoding: xchunked'),
  'two transfer-encoding headers': smuggled('transfer-encoding: chunked', 'transfer-encoding: identity'),
  'a transfer coding after chunked': smuggled('transfer-encoding: chunked, gzip'),
  'a vertical tab before the transfer coding': smuggled('transfer-encoding:\x0bchunked'),
  'a space before the colon': smuggled('transfer-encoding : chunked'),
  'a folded header': smuggled('x-some: thing', ' transfer-encoding: chunked', 'content-length: 5'),
  'bare line feeds': { ...refused(), steps: () => [`${status}x: y\n\n${smuggledRequest}`] },
  'a line feed without carriage return between headers': smuggled('x: y\ntransfer-encoding: chunked'),
  'a carriage return without line feed': smuggled('x: y\rtransfer-encoding: chunked'),
  'a NUL in a header': smuggled('x: y\0z'),
  'a header without a colon': smuggled('nonsense'),
  'a chunk size above the safe integers': chunked('ffffffffffffffffff\r\nx\r\n'),
  'a negative chunk size': chunked('-1\r\nx\r\n'),
  'a chunk without size': chunked('\r\nx\r\n'),
  'a chunk longer than its size': chunked('1\r\nxyz\r\n0\r\n\r\n'),
  'a chunk size that ends with a line feed': chunked('1\nx\n0\n\n'),
  'random bytes': { steps: ({ bytes }) => [bytes, END_OF_HEAD, HALF_CLOSE], responses: [0, 1] },
  'a TLS ClientHello': { ...refused(), steps: () => [Buffer.from('16030100a5010000a10303', 'hex')] },
  'an HTTP/2 preface': { ...refused(), steps: () => [`PRI * HTTP/2.0${END_OF_HEAD}SM${END_OF_HEAD}`] },
  'HTTP/0.9': answeredOnce(() => [`GET /api/status${END_OF_HEAD}`]),
  'HTTP/3.7': { ...refused(), steps: () => [`GET /api/status HTTP/3.7\r\nhost: 127.0.0.1${END_OF_HEAD}`] },
  'too many headers': { ...refused(), steps: () => [status, 'x: y\r\n'.repeat(10_000), '\r\n'] },
  'a long header': { ...refused(), steps: () => [status, `x: ${'y'.repeat(20_000)}`, END_OF_HEAD] },
  'a long request target': {
    ...refused(),
    steps: () => [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x${END_OF_HEAD}`],
  },
  'HTTP/1.0': answeredOnce(() => [`GET /api/status HTTP/1.0${END_OF_HEAD}`]),
  'no host header': answeredOnce(() => [`GET /api/status HTTP/1.1${END_OF_HEAD}`]),
  'two host headers': answeredOnce(() => [`${status}host: elsewhere.example${END_OF_HEAD}`]),
  'an invalid host header': answeredOnce(() => [`GET /api/status HTTP/1.1\r\nhost: @:/[${END_OF_HEAD}`]),
  'a request target in absolute form': answeredOnce(() => [
    status.replace('/', 'https://elsewhere.example/') + END_OF_HEAD,
  ]),
  'an unknown expectation': answeredOnce(() => [`${status}expect: tea${END_OF_HEAD}`]),
  'a body after 100-continue': answeredOnce(({ head, body }) => [
    `${head}\r\nexpect: 100-continue${END_OF_HEAD}`,
    50,
    body,
  ]),
  'a chunk extension': answeredOnce(() => [
    `${post}transfer-encoding: chunked\r\n\r\n2;x="y"\r\n{}\r\n0\r\nx: y${END_OF_HEAD}`,
  ]),
  'a content-length above the limit': answeredOnce(() => [
    `${post}content-length: 1048577${END_OF_HEAD}`,
    'x'.repeat(100_000),
  ]),
  'chunks above the size limit': answeredOnce(() => [
    `${post}transfer-encoding: chunked${END_OF_HEAD}`,
    `20000\r\n${'x'.repeat(131_072)}\r\n`.repeat(9),
  ]),
  'a request in pieces of one byte': answeredOnce((input) =>
    Array.from(Buffer.from(serialize(input)), (byte) => Buffer.of(byte)),
  ),
  'a protocol upgrade': answeredOnce(() => [
    `${status}connection: upgrade\r\nupgrade: websocket${END_OF_HEAD}`,
  ]),
  'a CONNECT request': {
    steps: () => [`CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: x${END_OF_HEAD}`],
    responses: [0, 1],
  },
  'eight pipelined requests': { steps: () => [`${status}\r\n`.repeat(8)], responses: [8, 8] },
  'eight pipelined requests and random bytes': {
    steps: ({ bytes }) => [`${status}\r\n`.repeat(8), bytes, HALF_CLOSE],
    responses: [0, 9],
  },
  'a valid request after an invalid one': {
    steps: ({ head, body }) => [head + END_OF_HEAD + 'x'.repeat(body.length), `${status}\r\n`],
    responses: [2, 2],
  },
  'an incomplete request and a closed connection': {
    steps: (input) => [serialize(input).slice(0, input.cut), DESTROY],
    responses: [0, 0],
  },
  'an incomplete request and a half-closed connection': {
    steps: (input) => [serialize(input).slice(0, input.cut), HALF_CLOSE],
    responses: [0, 1],
  },
  'a half-closed connection before the response': {
    steps: (input) => [serialize(input), HALF_CLOSE],
    responses: [0, 1],
  },
  'a closed connection before the response': {
    steps: (input) => [serialize(input), DESTROY],
    responses: [0, 0],
  },
}

/** Kinds of incomplete requests. The service rejects such a request only after a timeout. */
export const incompleteRequests: Record<string, Framing> = {
  'an incomplete header': answeredOnce(({ head, cut }) => [head.slice(0, 1 + (cut % head.length))]),
  'an incomplete body': answeredOnce(({ head, body, cut }) => [
    head + END_OF_HEAD + body.slice(0, cut % body.length),
  ]),
}

const all = { ...framings, ...incompleteRequests }

interface Sample {
  kind: string
  cut: number
  noise: Uint8Array
}

export const createFramingExchange =
  ({ kind, cut, noise }: Sample) =>
  ({ cookie, marker }: Pick<Caller, 'cookie' | 'marker'>): ExpectedExchange => {
    const body = JSON.stringify({ taskTitle: `word ${marker}` })
    const lines = [
      'POST /api/tasks HTTP/1.1',
      'host: 127.0.0.1',
      ...(cookie === '' ? [] : [`cookie: ${cookie}`]),
      'content-type: application/json',
      `content-length: ${body.length}`,
    ]
    const { steps, ...responses } = all[kind] ?? answeredOnce((input) => [serialize(input)])
    return {
      kind,
      steps: steps({ head: lines.join('\r\n'), body, cut, bytes: Buffer.from(noise) }),
      ...responses,
    }
  }

export const framingExchanges = fc
  .record<Sample>({
    kind: fc.constantFrom(...Object.keys(all)),
    cut: fc.nat(),
    noise: fc.uint8Array({ minLength: 1 }),
  })
  .map(createFramingExchange)
