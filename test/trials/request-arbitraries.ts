import fc from 'fast-check'

import type { Operation } from './api-operations.ts'
import type { Said } from './protocol-checks.ts'
import { badOf, goodOf, HUGE, MARK, texts } from './value-arbitraries.ts'
import {
  badPaths,
  type Caller,
  FORM,
  type Header,
  headers,
  type Identity,
  METHODS,
  own,
  queries,
  strange,
  types,
} from './request-part-arbitraries.ts'

/** A request before it is bytes. */
export interface Draft {
  operation: Operation
  method: string
  path: string
  query: string
  type: string
  headers: Header[]
  /** What is shown of who calls. */
  identity: Identity
  body: string | undefined
  encoding: BufferEncoding
}

const FAULTS = [
  'method',
  'path',
  'query',
  'type',
  'headers',
  'identity',
  'body',
  'value',
  'encoding',
] as const

/** Requests of every operation, each bad in one way or several. `ids` are of what there is, whoever's it is. */
export const drafts = (operations: Operation[], ids: string[]): fc.Arbitrary<Draft> =>
  fc
    .tuple(fc.constantFrom(...operations), fc.subarray([...FAULTS], { minLength: 1, maxLength: 3 }))
    .chain(([operation, faults]) => {
      const part = <Part>(
        fault: (typeof FAULTS)[number],
        good: fc.Arbitrary<Part>,
        bad: fc.Arbitrary<Part>,
      ) => (faults.includes(fault) ? bad : good)
      const { input, isForm } = operation
      const write = (value: unknown) => (isForm ? formOf(value) : JSON.stringify(value))
      const path = fc.constantFrom(...ids, '1').map((id) => operation.path.replace('{id}', id))
      const value = input && part('value', goodOf(input), badOf(input)).map(write)
      return fc.record<Draft>({
        operation: fc.constant(operation),
        method: part('method', fc.constant(operation.method), fc.constantFrom(...METHODS)),
        path: part('path', path, badPaths(operation.path, path)),
        query: part(
          'query',
          fc.constant(''),
          queries.map((query) => `?${query}`),
        ),
        type: part('type', fc.constant(isForm ? FORM : 'application/json'), types),
        headers: part('headers', fc.constant([]), headers),
        identity: part('identity', fc.constant(own(operation)), strange),
        body: part('body', value ?? fc.constant(undefined), texts),
        encoding: part('encoding', fc.constant('utf8'), fc.constantFrom('latin1', 'utf16le')),
      })
    })

const formOf = (value: unknown) => {
  const fields = Object.entries(typeof value === 'object' && value ? value : {})
  const text = (field: unknown) => (typeof field === 'string' ? field : JSON.stringify(field))
  return new URLSearchParams(fields.map(([name, field]): Header => [name, text(field)])).toString()
}

/** A request on a connection that ends with it. */
export function say(
  { method, path, query, type, headers, identity, encoding, ...draft }: Draft,
  caller: Caller,
): Said {
  const fill = (text: string) => text.replaceAll(MARK, caller.mark).replaceAll(HUGE, 'x'.repeat(1_100_000))
  const body = draft.body === undefined ? undefined : Buffer.from(fill(draft.body), encoding)
  const lines = [
    `${method} ${path}${query} HTTP/1.1`,
    ...[['host', '127.0.0.1'], ['connection', 'close'], ...identity(caller), ...headers].map((pair) =>
      pair.join(': '),
    ),
    ...(body ? [`content-type: ${type}`, `content-length: ${body.length}`] : []),
  ]
  const bytes = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body ?? Buffer.of()])
  return {
    kind: `${draft.operation.method} ${draft.operation.path}`,
    steps: [bytes],
    due: [1, 1],
    isLast: true,
    isHead: method === 'HEAD',
  }
}
