import fc from 'fast-check'

import type { Operation } from './api-operations.ts'
import { prototypeKeys } from './value-arbitraries.ts'

export type Header = [name: string, value: string]

/** A caller of the service, signed in or anonymous. */
export interface Caller {
  marker: string
  cookie: string
  /** Access token for /mcp. */
  bearer: string
}

export type Identity = (caller: Caller) => Header[]

export const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND QUERY BREW'.split(' ')
export const FORM = 'application/x-www-form-urlencoded'

export const contentTypes = fc.oneof(
  fc.constantFrom(
    '',
    'text/plain',
    'application/xml',
    FORM,
    'multipart/form-data; boundary=x',
    'application/json5',
  ),
  fc.constantFrom(
    'application/json; charset=utf-16',
    'application/json;version=1',
    'APPLICATION/JSON',
    'application/',
  ),
)

export const queries = fc.oneof(
  fc.webQueryParameters(),
  fc.constantFrom(
    'status=pending&status=completed',
    'status[]=x',
    '__proto__[a]=1',
    'status[__proto__]=x',
    'id=1',
  ),
  fc.constantFrom(
    '%',
    '=&=&',
    '%00',
    '%ff',
    'a'.repeat(9000),
    'a[b]'.repeat(500),
    `a${'[b]'.repeat(2000)}=1`,
    'a&'.repeat(4000),
    'status=done',
    '?',
  ),
)

const hex = (bytes: Uint8Array) =>
  Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

const PATH_SUFFIXES =
  '/ // /. /.. /../.. /%2e /%2E%2e /%2e%2e/%2e%2e /..;x /%252e%252e ..%2f ..%5c %2f %00 % %zz %c0%af ;x=1 .json \\..'.split(
    ' ',
  )
const PATHS = '* // ? http:// ftp://x/ //elsewhere.example/api/status /rpc /rpc/__proto__'.split(' ')

export const badPaths = (path: string, valid: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.uint8Array({ maxLength: 20 }).map((bytes) => path.replace('{id}', '') + hex(bytes)),
    fc
      .tuple(valid, fc.constantFrom(...PATH_SUFFIXES, ' x', '#f', 'é', 'x'.repeat(9000), ...prototypeKeys))
      .map((parts) => parts.join('')),
    fc.constantFrom(...PATHS, '/rpc/constructor/name', '/api/auth/__proto__', '/docs/../package.json'),
    valid.map((validPath) => validPath.toUpperCase()),
    valid.map((validPath) => `/${hex(Buffer.from(validPath.slice(1)))}`),
    valid.map((validPath) => `http://elsewhere.example${validPath}`),
  )

const line = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replace(/[\r\n]/g, ''))
const header = (name: string, ...values: string[]) =>
  fc.tuple(fc.constant(name), fc.oneof(line, fc.constantFrom(...values)))

/** One to four headers. A header name may occur more than once. */
export const headers = fc.array(
  fc.oneof(
    header('accept', 'application/json;version=1', 'text/event-stream', '*/*;q=9', 'x;;;q=', ',,,', '*'),
    header('accept-language', 'de', 'zh-TW', '*;q=0', 'en;q=2', 'x-'.repeat(4000), '__proto__'),
    header('datastar-request', 'true', 'false'),
    header('origin', 'https://elsewhere.example', 'null'),
    header('sec-fetch-site', 'cross-site', 'same-origin', 'none'),
    header('content-encoding', 'gzip', 'br', 'identity'),
    header('content-type', 'text/plain', 'application/json'),
    header('x-forwarded-for', '1.2.3.4', '::1, x', '999.1.1.1', ','.repeat(500)),
    header('x-tallystick-address', '1.2.3.4'),
    header('expect', '100-continue', 'tea'),
    header('upgrade', 'websocket', 'h2c'),
    header('host', 'elsewhere.example', ''),
    header('mcp-protocol-version', '2025-06-18', '1999-01-01'),
    header('user-agent', '', 'x'.repeat(9000)),
    ...prototypeKeys.map((name) => header(name, 'x')),
  ),
  { minLength: 1, maxLength: 4 },
)

const cookie =
  (modify: (cookie: string) => string) =>
  (caller: Caller): Header[] => [['cookie', modify(caller.cookie)]]
const token =
  (modify: (token: string) => string) =>
  (caller: Caller): Header[] => [['authorization', `Bearer ${modify(caller.bearer)}`]]
const unsigned = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"1"}')}.`

export const validIdentity = ({ path }: Operation) =>
  path === '/mcp' ? token((valid) => valid) : cookie((valid) => valid)
export const invalidIdentities = fc.constantFrom<Identity[]>(
  () => [],
  cookie((valid) => valid.slice(0, -3)),
  cookie((valid) => valid.toUpperCase()),
  cookie((valid) => valid.replace(/\..*/, '')),
  cookie((valid) => `${valid}; ${valid}x`),
  cookie((valid) => `__proto__=1; =; ;;=x; %=%; ${valid}`),
  cookie((valid) => `${valid}; x=${'y'.repeat(9000)}`),
  (caller) => [...cookie((valid) => valid)(caller), ...token((valid) => valid)(caller)],
  (caller) => [...token((valid) => valid)(caller), ['authorization', 'Basic eDp5']],
  token((valid) => valid.slice(0, -4)),
  ...['', ' ', 'a.b.c', 'é', 'a'.repeat(9000), unsigned].map((text) => token(() => text)),
)
