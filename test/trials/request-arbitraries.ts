import fc from 'fast-check'

import type { Operation } from './api-operations.ts'
import type { ExpectedExchange } from './protocol-checks.ts'
import {
  badPaths,
  type Caller,
  contentTypes,
  FORM,
  type Header,
  headers,
  type Identity,
  invalidIdentities,
  METHODS,
  queries,
  validIdentity,
} from './request-part-arbitraries.ts'
import { invalidBodies, invalidValue, MARKER, OVERSIZED, validValue } from './value-arbitraries.ts'

/** The parts of a request before serialization. */
export interface RequestDraft {
  operation: Operation
  method: string
  path: string
  query: string
  type: string
  headers: Header[]
  /** The credentials of the request. */
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

/**
 * Generates requests for all operations. In each request, one to three parts are invalid. `ids` contains the ids of
 * existing rows of all callers.
 */
export const invalidRequests = (operations: Operation[], ids: string[]): fc.Arbitrary<RequestDraft> =>
  fc
    .tuple(fc.constantFrom(...operations), fc.subarray([...FAULTS], { minLength: 1, maxLength: 3 }))
    .chain(([operation, faults]) => {
      const choosePart = <Part>(
        fault: (typeof FAULTS)[number],
        valid: fc.Arbitrary<Part>,
        invalid: fc.Arbitrary<Part>,
      ) => (faults.includes(fault) ? invalid : valid)
      const { input, isForm } = operation
      const write = (value: unknown) => (isForm ? formOf(value) : JSON.stringify(value))
      const path = fc.constantFrom(...ids, '1').map((id) => operation.path.replace('{id}', id))
      const value = input && choosePart('value', validValue(input), invalidValue(input)).map(write)
      return fc.record<RequestDraft>({
        operation: fc.constant(operation),
        method: choosePart('method', fc.constant(operation.method), fc.constantFrom(...METHODS)),
        path: choosePart('path', path, badPaths(operation.path, path)),
        query: choosePart(
          'query',
          fc.constant(''),
          queries.map((query) => `?${query}`),
        ),
        type: choosePart('type', fc.constant(isForm ? FORM : 'application/json'), contentTypes),
        headers: choosePart('headers', fc.constant([]), headers),
        identity: choosePart('identity', fc.constant(validIdentity(operation)), invalidIdentities),
        body: choosePart('body', value ?? fc.constant(undefined), invalidBodies),
        encoding: choosePart('encoding', fc.constant('utf8'), fc.constantFrom('latin1', 'utf16le')),
      })
    })

const formOf = (value: unknown) => {
  const fields = Object.entries(typeof value === 'object' && value ? value : {})
  const text = (field: unknown) => (typeof field === 'string' ? field : JSON.stringify(field))
  return new URLSearchParams(fields.map(([name, field]): Header => [name, text(field)])).toString()
}

/** Serializes a request that is sent alone on a new connection. */
export function toExchange(
  { method, path, query, type, headers, identity, encoding, ...draft }: RequestDraft,
  caller: Caller,
): ExpectedExchange {
  const replacePlaceholders = (text: string) =>
    text.replaceAll(MARKER, caller.marker).replaceAll(OVERSIZED, 'x'.repeat(1_100_000))
  const body = draft.body === undefined ? undefined : Buffer.from(replacePlaceholders(draft.body), encoding)
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
    responses: [1, 1],
    endsConnection: true,
    isHead: method === 'HEAD',
  }
}
