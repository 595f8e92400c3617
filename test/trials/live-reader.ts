import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { getEventIteratorSchemaDetails } from '@orpc/contract'
import type * as z from 'zod'

import { contract, type LiveUpdate, type TopicName } from '../../contract/index.ts'
import { fromNewAddress } from './addresses.ts'
import { type Mark, type Marks, marksOf, StateChecker } from './live-marks.ts'

// All durations are in milliseconds.
/** Time limit for the status and the headers of a response. Longer than ANSWER_TIMEOUT. */
const HEADERS_TIMEOUT = 20_000
/** Time limit without a byte. The service sends a comment every 15 s. */
const SILENCE_TIMEOUT = 40_000
/** Maximum time until the next connection. The actual time is random. */
const RECONNECT_DELAY = 500
/** Limits of the random time after which a reader drops its connection, while `isChurning`. */
const LIFETIME = { min: 3000, max: 40_000 }

const between = (min: number, max: number) => min + Math.random() * (max - min)

export interface StreamRequest {
  origin: string
  protocol: 'REST' | 'RPC'
  topics: readonly TopicName[]
  cookie: string
  lastEventId?: string | undefined
  signal?: AbortSignal
}

interface StreamEvents {
  onOpen?: () => void
  onEvent?: (id: string, update: LiveUpdate) => void
}

// No connection is reused, so that a request does not fail because the service has just closed its connection.
const agent = new Agent({ keepAlive: false })

/** Opens a stream. Resolves with the status at the end of the stream; 0 if the connection failed before the headers. */
export function readStream(
  { origin, protocol, topics, cookie, lastEventId, signal }: StreamRequest,
  { onOpen, onEvent }: StreamEvents = {},
) {
  const isRest = protocol === 'REST'
  const path = isRest ? `/api/live?topics=${topics.join()}` : '/rpc/live/watch'
  const headers = {
    cookie,
    ...fromNewAddress(),
    ...(!isRest && { 'content-type': 'application/json' }),
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  return new Promise<{ status: number; isHung: boolean }>((resolve) => {
    let [status, isHung] = [0, false]
    const finish = () => {
      resolve({ status, isHung })
    }
    const options = { agent, method: isRest ? 'GET' : 'POST', headers, ...(signal && { signal }) }
    const outgoing = request(origin + path, options, (response) => {
      status = response.statusCode ?? 0
      outgoing.setTimeout(SILENCE_TIMEOUT)
      if (status === 200) onOpen?.()
      const parse = createParser(isRest, (id, update) => onEvent?.(id, update))
      response.setEncoding('utf8').on('error', () => undefined)
      response.on('data', (text: string) => {
        if (status === 200) parse(text)
      })
      response.once('close', finish)
    })
    outgoing.setTimeout(HEADERS_TIMEOUT, () => {
      isHung = true
      outgoing.destroy()
    })
    outgoing.once('error', () => undefined).once('close', finish)
    outgoing.end(isRest ? undefined : JSON.stringify({ json: { topics } }))
  })
}

/** Throws an error if a value does not match the contract. */
function parseUpdate(value: unknown) {
  const schema = getEventIteratorSchemaDetails(contract.live.watch['~orpc'].outputSchema)
    ?.yields as z.ZodType<LiveUpdate>
  return schema.parse(value)
}

/** Parses server-sent events with an id, and checks their data with the schema of the contract. */
function createParser(isRest: boolean, onEvent: (id: string, update: LiveUpdate) => void) {
  let rest = ''
  return (text: string) => {
    const parts = (rest + text).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const data = /^data: (.*)$/m.exec(part)?.[1]
      if (data === undefined) continue
      const value = JSON.parse(data) as { json: unknown }
      onEvent(/^id: (.*)$/m.exec(part)?.[1] ?? '', parseUpdate(isRest ? value : value.json))
    }
  }
}

interface ReaderOptions extends Omit<StreamRequest, 'origin' | 'lastEventId' | 'signal'> {
  person: string
  origins: readonly string[]
  marks: Marks
}

/** A client that keeps one stream open: resumes with `Last-Event-ID` after each end, at a random instance. */
export class LiveReader {
  /** While true, the reader drops its connection at random times, and resumes. */
  static isChurning = true

  readonly topics
  readonly person
  readonly checker
  /** The marks of the last state of each topic. */
  readonly states = new Map<TopicName, Mark[]>()
  readonly statuses = new Map<number, number>()
  deliveries = 0
  hangs = 0
  isOpen = false
  readonly #options
  readonly #stopping = new AbortController()
  #lastEventId: string | undefined
  readonly #done

  constructor(options: ReaderOptions) {
    this.#options = options
    this.topics = options.topics
    this.person = options.person
    this.checker = new StateChecker(options.marks, options.person)
    this.#done = this.#run()
  }

  async stop() {
    this.#stopping.abort()
    await this.#done
  }

  async #run() {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#connect()
      await sleep(between(20, RECONNECT_DELAY), undefined, { signal }).catch(() => undefined)
    }
  }

  async #connect() {
    const { origins, ...options } = this.#options
    const since = performance.now()
    const origin = origins[Math.floor(Math.random() * origins.length)] ?? ''
    const dropping = new AbortController()
    const lifetime = setTimeout(
      () => {
        if (LiveReader.isChurning) dropping.abort()
      },
      between(LIFETIME.min, LIFETIME.max),
    )
    const signal = AbortSignal.any([this.#stopping.signal, dropping.signal])
    const { status, isHung } = await readStream(
      { ...options, origin, lastEventId: this.#lastEventId, signal },
      {
        onOpen: () => (this.isOpen = true),
        onEvent: (id, update) => {
          this.#lastEventId = id
          this.#accept(update, since)
        },
      },
    )
    clearTimeout(lifetime)
    this.isOpen = false
    if (isHung) this.hangs++
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
  }

  #accept(update: LiveUpdate, since: number) {
    this.deliveries++
    const marks = marksOf(update)
    this.states.set(update.topic, marks)
    this.checker.check(update.topic, marks, since)
  }
}
