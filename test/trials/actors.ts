import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { type Client, createClient, createRestClient } from '../../contract/client.ts'
import { cookieOf } from '../../engine/dev/testing/index.ts'
import {
  type CheckedClient,
  createCheckedClient,
  errorOf,
  type Recording,
  type Result,
} from './checked-client.ts'
import { ExpectedRows } from './expected-rows.ts'
import type { MailServer } from './mail-server.ts'

/** Pause of an actor after a failed request, in milliseconds. */
const RETRY_PAUSE = 100

export interface ActorContext {
  origin: string
  recording: Recording
  mail: MailServer
  /** Acknowledged values of the counter, and the number of increments without a response. */
  increments: { values: number[]; unanswered: number }
}

type Body = URLSearchParams | object | undefined

/** A simulated person with a client. Each response updates the expected rows of the actor. */
export interface Actor {
  marker: string
  email: string
  friendEmail: string
  id: string
  client: Client
  checked: CheckedClient
  tasks: ExpectedRows
  notes: ExpectedRows
  /**
   * Sends a POST request for an operation that is not in the contract. If the response is an error, throws the typed
   * error.
   */
  post: (
    path: string,
    body: Body,
    headers?: Record<string, string>,
  ) => Promise<{ headers: Headers; body: unknown }>
  /** Returns a title that is unique in the trial. */
  uniqueTitle: (kind: string) => string
  app: App
}

/** The OAuth client of an actor, and its tokens. */
export interface App {
  clientId?: string | undefined
  tokens?: { access_token: string; refresh_token: string } | undefined
}

const randomMarker = () => `mk${randomBytes(8).toString('hex')}`
const emailOf = (marker: string) => `${marker}@example.com`

/** Creates two actors who share notes with each other. */
export async function createActorPair(context: ActorContext, protocol: 'RPC' | 'REST') {
  const [one, other] = [randomMarker(), randomMarker()]
  return [await createActor(context, protocol, one, other), await createActor(context, protocol, other, one)]
}

/** Signs in a new person. */
export async function createActor(
  { origin, recording, mail }: ActorContext,
  protocol: 'RPC' | 'REST',
  marker = randomMarker(),
  friend = randomMarker(),
): Promise<Actor> {
  recording.owners.set(marker, marker)
  const checked = createCheckedClient(recording, marker, friend)
  const sendPost = createPost(origin, checked.fetch)
  const { cookie, id } = await signIn(checked, sendPost, mail, emailOf(marker))
  for (const word of [id, decodeURIComponent(cookie).replace(/^[^=]*=|\..*/g, '')])
    recording.owners.set(word, marker)
  const create = protocol === 'RPC' ? createClient : createRestClient
  let titles = 0
  return {
    marker,
    email: emailOf(marker),
    friendEmail: emailOf(friend),
    id,
    client: create(origin, { headers: { cookie }, fetch: checked.fetch }),
    checked,
    tasks: new ExpectedRows(),
    notes: new ExpectedRows(),
    post: (path, body, headers) => sendPost(path, body, { cookie, ...headers }),
    uniqueTitle: (kind) => `${marker} ${kind} ${++titles}`,
    app: {},
  }
}

type Post = Actor['post']

let addresses = 0
/** Returns a new IP address for each request, because better-auth limits the sign-ins of one address. */
const nextAddress = () => `10.${[16, 8, 0].map((bits) => (addresses >> bits) & 255).join('.')}`

/** Creates a function that sends POST requests and throws the typed errors of their responses. */
export const createPost =
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

/** Parses a body. The response of an MCP tool is a stream with one event. */
function parse(type: string, text: string): unknown {
  if (type.startsWith('text/html') || text === '') return text
  return JSON.parse(type.startsWith('text/event-stream') ? (/^data: (.*)/m.exec(text)?.[1] ?? '') : text)
}

/** Repeats the sign-in, each time with a new code, until a sign-in succeeds. */
async function signIn(checked: CheckedClient, post: Post, mail: MailServer, email: string) {
  for (let isRetry = false; ; isRetry = true) {
    const session = await trySignIn(checked, post, mail, email, isRetry)
    if (session) return session
    await sleep(RETRY_PAUSE)
  }
}

/**
 * Requests a sign-in code by e-mail and submits this code. A retry also accepts the error INVALID_OTP, because an
 * earlier request without a response may have consumed or replaced the sign-in code.
 */
async function trySignIn(
  checked: CheckedClient,
  post: Post,
  mail: MailServer,
  email: string,
  isRetry: boolean,
) {
  const request = { email, type: 'sign-in' }
  const send = () => post('/api/auth/email-otp/send-verification-otp', request)
  const sent = await checked.attempt('code.send', async () => (await send()).body)
  const otp = sent.code === 'OK' ? await mail.consumeCode(email) : undefined
  if (sent.code === 'OK' && !otp) checked.addFault('received no message with a code')
  if (!otp) return undefined
  let cookie = ''
  const enterCode = async () => {
    const { headers, body } = await post('/api/auth/sign-in/email-otp', { email, otp })
    cookie = cookieOf(headers)
    return body as { user: { id: string } }
  }
  const { value } = await checked.attempt('code.enter', enterCode, isRetry ? ['INVALID_OTP'] : [])
  return value && { cookie, id: value.user.id }
}

const isUnanswered = ({ code }: Result<unknown>) =>
  ['SERVICE_UNAVAILABLE', 'BROKEN', 'UNDER_WAY'].includes(code)

/** Executes an operation once, without retries. */
export const attempt = <Value>(
  { checked }: Actor,
  operation: string,
  send: () => Promise<Value>,
  expected?: readonly string[],
) => checked.attempt(operation, send, expected)

/**
 * Repeats an operation until the service answers. A repetition may fail with an error code in `expected`, because the
 * service may have executed an earlier attempt without sending a response. The first attempt must not fail with such a
 * code.
 */
export async function retryUntilAnswered<Value>(
  { checked }: Actor,
  operation: string,
  send: () => Promise<Value>,
  expected: readonly string[] = [],
): Promise<Result<Value>> {
  let result = await checked.attempt(operation, send)
  while (isUnanswered(result)) {
    await sleep(RETRY_PAUSE)
    result = await checked.attempt(operation, send, expected)
  }
  return result
}
