import { type IncomingHttpHeaders, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

import { cookieOf } from '../src/testing.ts'
import type { Service } from './service.ts'

const json = { 'content-type': 'application/json' }

/** The content type of an HTML form. A body with this type is a URL-encoded string. */
export const formType = { 'content-type': 'application/x-www-form-urlencoded' }

export interface Answer {
  status: number
  headers: Headers
  /** The parsed value of a JSON response; for other responses, the text. */
  body: unknown
}

/** Returns a function that sends a REST request. A body that is not a string is sent as JSON. */
export function createFetch({ origin }: Pick<Service, 'origin'>) {
  return async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(origin + path, {
      method,
      headers: { ...(body !== undefined && json), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }
}

interface RawAnswer {
  status: number | undefined
  headers: IncomingHttpHeaders
  body: Buffer
}

/** Returns a function that sends a request with exactly these headers, and does not decode the body of the response. */
export const createRawFetch =
  ({ origin }: Pick<Service, 'origin'>) =>
  (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    new Promise<RawAnswer>((resolve, reject) => {
      request(origin + path, { method, headers }, (response) => {
        buffer(response).then((bytes) => {
          resolve({ status: response.statusCode, headers: response.headers, body: bytes })
        }, reject)
      })
        .on('error', reject)
        .end(body)
    })

/** Signs in over HTTP, as a user does: requests a code, reads the code from the e-mail, and submits the code. */
export async function signInOverHttp(service: Service, email: string, headers = {}) {
  const post = (path: string, body: object) =>
    fetch(service.origin + path, {
      method: 'POST',
      headers: { ...json, ...headers },
      body: JSON.stringify(body),
    })
  await post('/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
  const otp = codeSentTo(service, email)
  const response = await post('/api/auth/sign-in/email-otp', { email, otp })
  return { cookie: cookieOf(response.headers), response }
}

/** Returns the last sign-in code sent to the address. Undefined if no code was sent. */
export const codeSentTo = ({ letters }: Pick<Service, 'letters'>, email: string) =>
  letters.findLast(({ to }) => to === email.toLowerCase())?.subject.slice(0, 6)

export const wrongCodeFor = (code: string) => (code === '000000' ? '000001' : '000000')

/** Applies the Set-Cookie headers of a response to a Cookie header. Returns the next Cookie header of a browser. */
export function cookiesAfter({ headers }: Pick<Answer, 'headers'>, cookie = '') {
  const jar = new Map<string, string>()
  for (const pair of [...cookie.split('; '), ...headers.getSetCookie()]) {
    const [name = '', value = ''] = pair.split(';', 1)[0]?.split('=') ?? []
    if (value === '') jar.delete(name)
    else jar.set(name, value)
  }
  return [...jar].map((pair) => pair.join('=')).join('; ')
}

/** Returns the token of the session in a cookie, without the signature. */
export const sessionTokenIn = (cookie: string) => /session_token=([^.]+)\./.exec(cookie)?.[1] ?? ''

export const errorBody = (status: number, code: string, message: string, defined = false) => ({
  defined,
  code,
  status,
  message,
  error: message,
})

/** Returns the body of an error at a path: under /rpc/, the error is in the envelope of RPC. */
export const errorBodyAt = (path: string, body: ReturnType<typeof errorBody>) => {
  const { error: _, ...json } = body
  return path.startsWith('/rpc/') ? { json } : body
}

/** The body of a response that rejects one field of the input. */
export const validationError = (path: string, message: unknown) => ({
  ...errorBody(400, 'BAD_REQUEST', 'Input validation failed'),
  data: { issues: [{ path, message }] },
})

export const notFound = errorBody(404, 'NOT_FOUND', 'There is nothing at this address')
