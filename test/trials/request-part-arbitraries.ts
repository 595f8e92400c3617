import fc from 'fast-check'

import type { Operation } from './api-operations.ts'
import { inherited } from './value-arbitraries.ts'

export type Header = [name: string, value: string]

/** Whoever calls. */
export interface Caller {
  mark: string
  cookie: string
  /** A token for /mcp. */
  bearer: string
}

export type Identity = (caller: Caller) => Header[]

export const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND QUERY BREW'.split(' ')
export const FORM = 'application/x-www-form-urlencoded'

export const types = fc.oneof(
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

const ENDS =
  '/ // /. /.. /../.. /%2e /%2E%2e /%2e%2e/%2e%2e /..;x /%252e%252e ..%2f ..%5c %2f %00 % %zz %c0%af ;x=1 .json \\..'.split(
    ' ',
  )
const WHOLES = '* // ? http:// ftp://x/ //elsewhere.example/api/status /rpc /rpc/__proto__'.split(' ')

export const badPaths = (path: string, good: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.uint8Array({ maxLength: 20 }).map((bytes) => path.replace('{id}', '') + hex(bytes)),
    fc
      .tuple(good, fc.constantFrom(...ENDS, ' x', '#f', 'é', 'x'.repeat(9000), ...inherited))
      .map((parts) => parts.join('')),
    fc.constantFrom(...WHOLES, '/rpc/constructor/name', '/api/auth/__proto__', '/docs/../package.json'),
    good.map((whole) => whole.toUpperCase()),
    good.map((whole) => `/${hex(Buffer.from(whole.slice(1)))}`),
    good.map((whole) => `http://elsewhere.example${whole}`),
  )

const line = fc.string({ unit: 'binary', maxLength: 40 }).map((some) => some.replace(/[\r\n]/g, ''))
const header = (name: string, ...values: string[]) =>
  fc.tuple(fc.constant(name), fc.oneof(line, fc.constantFrom(...values)))

/** Some twice, as it comes. */
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
    ...inherited.map((name) => header(name, 'x')),
  ),
  { minLength: 1, maxLength: 4 },
)

const cookie =
  (spoil: (cookie: string) => string) =>
  (caller: Caller): Header[] => [['cookie', spoil(caller.cookie)]]
const token =
  (spoil: (token: string) => string) =>
  (caller: Caller): Header[] => [['authorization', `Bearer ${spoil(caller.bearer)}`]]
const unsigned = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"1"}')}.`

export const own = ({ path }: Operation) => (path === '/mcp' ? token((same) => same) : cookie((same) => same))
export const strange = fc.constantFrom<Identity[]>(
  () => [],
  cookie((good) => good.slice(0, -3)),
  cookie((good) => good.toUpperCase()),
  cookie((good) => good.replace(/\..*/, '')),
  cookie((good) => `${good}; ${good}x`),
  cookie((good) => `__proto__=1; =; ;;=x; %=%; ${good}`),
  cookie((good) => `${good}; x=${'y'.repeat(9000)}`),
  (caller) => [...cookie((good) => good)(caller), ...token((good) => good)(caller)],
  (caller) => [...token((good) => good)(caller), ['authorization', 'Basic eDp5']],
  token((good) => good.slice(0, -4)),
  ...['', ' ', 'a.b.c', 'é', 'a'.repeat(9000), unsigned].map((text) => token(() => text)),
)
