import { setTimeout as sleep } from 'node:timers/promises'

import {
  type CallContext,
  type Client,
  createClient,
  createRestClient,
  ORPCError,
} from '../../contract/client.ts'
import type { FaultContext } from './live-faults.ts'
import type { Marks } from './live-marks.ts'
import { fromNewAddress } from './addresses.ts'
import { signIn } from './service-process.ts'

// All durations are in milliseconds.
/** Pause of a writer between two writes, at most. */
const PAUSE = 1000
/** Pause after a write without an acknowledgement. */
const RETRY_PAUSE = 200
/** Time limit of a request. Longer than ANSWER_TIMEOUT. */
export const REQUEST_TIMEOUT = 20_000

export interface Person {
  name: string
  email: string
  cookie: string
}

export interface WriterContext extends Pick<FaultContext, 'environments' | 'admin'> {
  /** The instances. A writer changes the instance and the protocol with every request. */
  instances: readonly { origin: string; dataDir: string }[]
  people: readonly Person[]
  marks: Marks
}

export interface WriterFigures {
  /** Acknowledged writes by kind of writer. */
  acknowledged: Map<string, number>
  refused: number
  longest: number
  /** Errors that no fault explains. */
  errors: string[]
}

interface Call {
  context: CallContext & { reply: Map<string, string | string[]> }
}
export type Send<Value> = (client: Client, call: Call) => Promise<Value>

export interface WriteOptions {
  headers?: Record<string, string>
  /** Codes of errors that an earlier attempt without a response explains. */
  expected?: string[]
}

/** The result of an acknowledged request. Empty after an expected error. */
interface Result<Value> {
  value?: Value
  tag?: string | undefined
}

/** The token in a session cookie. */
export const tokenOf = (cookie: string) => decodeURIComponent(cookie).replace(/^[^=]*=|\..*/g, '')

export const fetchInTime: typeof fetch = (input, init) =>
  fetch(input, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT) })

/** Signs in from a new IP address, because better-auth limits the sign-ins of one address. */
export const signInFromAnywhere = ({ origin, dataDir }: { origin: string; dataDir: string }, email: string) =>
  signIn(origin, email, dataDir, fromNewAddress())

/** Codes of errors that a fault explains. UNDEFINED: the request had no response. */
const OUTAGES = ['SERVICE_UNAVAILABLE', 'UNDER_WAY', 'UNDEFINED']

const codeOf = (error: unknown) => (error instanceof ORPCError ? String(error.code) : 'UNDEFINED')

/** Sends the requests of the writers, and counts the responses. */
export function createRequests({ instances, marks }: WriterContext) {
  const figures: WriterFigures = { acknowledged: new Map(), refused: 0, longest: 0, errors: [] }
  let stopped = false
  let turns = 0

  /** Executes one operation. Returns undefined if the service did not acknowledge the operation. */
  async function attempt<Value>(
    name: string,
    execute: () => Promise<Result<Value>>,
    expected: readonly string[] = [],
  ): Promise<Result<Value> | undefined> {
    const start = performance.now()
    try {
      const result = await execute()
      // The names of people end with a number.
      const kind = name.replace(/\d+$/, '')
      figures.acknowledged.set(kind, (figures.acknowledged.get(kind) ?? 0) + 1)
      return result
    } catch (error) {
      figures.refused++
      const code = codeOf(error)
      if (expected.includes(code)) return {}
      if (!OUTAGES.includes(code)) figures.errors.push(`${name}: ${code}`)
      await sleep(RETRY_PAUSE)
      return undefined
    } finally {
      figures.longest = Math.max(figures.longest, performance.now() - start)
    }
  }

  /** Sends one request of a typed client. */
  function write<Value>(person: Person, send: Send<Value>, { headers = {}, expected }: WriteOptions = {}) {
    const turn = ++turns
    const { origin } = instances[turn % instances.length] ?? { origin: '' }
    const create = turn % 4 < 2 ? createClient : createRestClient
    const client = create(origin, { headers: { cookie: person.cookie }, fetch: fetchInTime })
    const reply = new Map<string, string | string[]>()
    const execute = async () => {
      const value = await send(client, { context: { headers, reply } })
      return { value, tag: reply.get('etag')?.toString() }
    }
    return attempt(person.name, execute, expected)
  }

  /** Repeats an operation until the service acknowledges the operation, or the writers stop. */
  async function repeat<Value>(execute: () => Promise<Result<Value> | undefined>) {
    for (;;) {
      const result = await execute()
      if (result) return result
      if (stopped) return undefined
    }
  }

  /** Deletes an object. An earlier attempt without a response may have deleted the object. */
  async function remove(key: string, execute: () => Promise<Result<unknown> | undefined>) {
    if (stopped) return
    marks.issueDeletion(key)
    if (await repeat(execute)) marks.acknowledgeDeletion(key)
  }

  return {
    figures,
    attempt,
    write,
    repeat,
    remove,
    pause: () => sleep(Math.random() * PAUSE),
    isStopped: () => stopped,
    stop: () => {
      stopped = true
    },
  }
}

export type Requests = ReturnType<typeof createRequests>
