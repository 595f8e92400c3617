import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { type Client, createClient, createRestClient } from '../../contract/client.ts'
import { cookieOf } from '../../src/testing.ts'
import { type Book, createWitness, errorOf, type Result, type Witness } from './checked-client.ts'
import type { Letters } from './mail-server.ts'
import { Things } from './expected-rows.ts'

/** Between a failed request and the next one of the same person, in milliseconds. */
const PAUSE = 100

export interface Scene {
  origin: string
  book: Book
  letters: Letters
  /** The counter: values that were acknowledged, and steps that were not. */
  steps: { values: number[]; open: number }
}

/** A form, a JSON body, or none. */
export type Body = URLSearchParams | object | undefined

/** A person with a client, and all that the person was told. */
export interface Person {
  mark: string
  email: string
  friendEmail: string
  id: string
  client: Client
  witness: Witness
  tasks: Things
  notes: Things
  /** Sends what the client does not cover. Throws the error that the answer stands for. */
  post: (
    path: string,
    body: Body,
    headers?: Record<string, string>,
  ) => Promise<{ headers: Headers; body: unknown }>
  /** A title that no other thing has. */
  title: (kind: string) => string
  app: App
}

/** An app of the person's: what it has so far. */
export interface App {
  clientId?: string | undefined
  tokens?: { access_token: string; refresh_token: string } | undefined
}

const randomMark = () => `mk${randomBytes(8).toString('hex')}`
const emailOf = (mark: string) => `${mark}@example.com`

/** Two people who share notes with each other. */
export async function bringPair(scene: Scene, protocol: 'RPC' | 'REST') {
  const [one, other] = [randomMark(), randomMark()]
  return [await bring(scene, protocol, one, other), await bring(scene, protocol, other, one)]
}

/** Signs a new person in. */
export async function bring(
  { origin, book, letters }: Scene,
  protocol: 'RPC' | 'REST',
  mark = randomMark(),
  friend = randomMark(),
): Promise<Person> {
  book.owners.set(mark, mark)
  const witness = createWitness(book, mark, friend)
  const poster = createPoster(origin, witness.fetch)
  const { cookie, id } = await signIn(witness, poster, letters, emailOf(mark))
  for (const word of [id, decodeURIComponent(cookie).replace(/^[^=]*=|\..*/g, '')])
    book.owners.set(word, mark)
  const create = protocol === 'RPC' ? createClient : createRestClient
  let titles = 0
  return {
    mark,
    email: emailOf(mark),
    friendEmail: emailOf(friend),
    id,
    client: create(origin, { headers: { cookie }, fetch: witness.fetch }),
    witness,
    tasks: new Things(),
    notes: new Things(),
    post: (path, body, headers) => poster(path, body, { cookie, ...headers }),
    title: (kind) => `${mark} ${kind} ${++titles}`,
    app: {},
  }
}

type Post = Person['post']

let addresses = 0
/** An address of its own for each request: better-auth limits sign-ins by address. */
const nextAddress = () => `10.${[16, 8, 0].map((bits) => (addresses >> bits) & 255).join('.')}`

const createPoster =
  (origin: string, send: typeof fetch): Post =>
  async (path, body, headers) => {
    addresses++
    const isForm = body instanceof URLSearchParams
    const response = await send(origin + path, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'x-forwarded-for': nextAddress(),
        ...(body && !isForm && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
    const parsed = parse(response.headers.get('content-type') ?? '', await response.text())
    if (response.status >= 400) throw errorOf(response.status, parsed)
    return { headers: response.headers, body: parsed }
  }

/** What a body says. Answers of tools come as one event of a stream. */
function parse(type: string, text: string): unknown {
  if (type.startsWith('text/html') || text === '') return text
  return JSON.parse(type.startsWith('text/event-stream') ? (/^data: (.*)/m.exec(text)?.[1] ?? '') : text)
}

/** Asks for codes until one signs in. */
async function signIn(witness: Witness, post: Post, letters: Letters, email: string) {
  for (let isSure = true; ; isSure = false) {
    const entered = await enter(witness, post, letters, email, isSure)
    if (entered) return entered
    await sleep(PAUSE)
  }
}

/** Asks for a code and answers it. A request without an answer may have used or replaced a code: `isSure` rules that out. */
async function enter(witness: Witness, post: Post, letters: Letters, email: string, isSure: boolean) {
  const asked = { email, type: 'sign-in' }
  const send = () => post('/api/auth/email-otp/send-verification-otp', asked)
  const sent = await witness.attempt('code.send', async () => (await send()).body)
  const otp = sent.code === 'OK' ? await letters.takeCode(email) : undefined
  if (sent.code === 'OK' && !otp) witness.fault('was sent no letter')
  if (!otp) return undefined
  let cookie = ''
  const answer = async () => {
    const { headers, body } = await post('/api/auth/sign-in/email-otp', { email, otp })
    cookie = cookieOf(headers)
    return body as { user: { id: string } }
  }
  const { value } = await witness.attempt('code.enter', answer, isSure ? [] : ['INVALID_OTP'])
  return value && { cookie, id: value.user.id }
}

const isOpen = ({ code }: Result<unknown>) => ['SERVICE_UNAVAILABLE', 'BROKEN', 'UNDER_WAY'].includes(code)

/** Sends a request once. */
export const attempt = <Value>(
  { witness }: Person,
  operation: string,
  send: () => Promise<Value>,
  expected?: readonly string[],
) => witness.attempt(operation, send, expected)

/** Repeats a request until it is answered. `expected` are codes that it may have once it was sent before. */
export async function insist<Value>(
  { witness }: Person,
  operation: string,
  send: () => Promise<Value>,
  expected: readonly string[] = [],
): Promise<Result<Value>> {
  let result = await witness.attempt(operation, send)
  while (isOpen(result)) {
    await sleep(PAUSE)
    result = await witness.attempt(operation, send, expected)
  }
  return result
}
