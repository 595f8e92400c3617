import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { type RequestKind, type RequestRecord, sendLoadRequest } from './load-request.ts'
import { type Service, signIn } from './service-process.ts'

const REQUEST_SEQUENCE: readonly RequestKind[] = [
  'increment',
  'createTask',
  'createTaskOnce',
  'updateTask',
  'readCounter',
  'createNote',
  'shareNote',
  'readTask',
  'updateTask',
  'export',
]

const CALLERS = 32

/** Number of callers that also request exports. Only a few callers do so, because an export takes 25 ms. */
const EXPORTING_CALLERS = 2

/** Pause of a caller after a failed request, in milliseconds. */
const PAUSE = 200

export interface LoadAccounts {
  /** The cookies of people with data that the load changes. */
  writers: readonly string[]
  /** An account that the load does not change, so that the size of its export stays the same. */
  exporter: { email: string; cookie: string }
}

/** The last task and the last note of a caller. A row with an unknown state in the database is omitted. */
type LatestRows = Partial<Record<'task' | 'note', RequestRecord>>

/** For a kind of request, the kind of row that must exist before the request. */
const PREREQUISITES: Partial<Record<RequestKind, keyof LatestRows>> = {
  readTask: 'task',
  updateTask: 'task',
  shareNote: 'note',
}

const requiredRow = (kind: RequestKind, latest: LatestRows) => {
  const prerequisite = PREREQUISITES[kind]
  return prerequisite && latest[prerequisite]
}

/**
 * Starts concurrent callers. Until `stop` is called, each caller sends sequential requests. The callers are distributed
 * over the origins. After a failed request, a caller continues at the next origin. If the failed request had an
 * `Idempotency-Key`, the caller repeats it. Records every request.
 */
export function startLoad(origins: readonly string[], { writers, exporter }: LoadAccounts) {
  const entries: RequestRecord[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS })
  let stopped = false
  let highestCount = 0

  async function call(caller: number) {
    const writer = writers[caller % writers.length] ?? ''
    let originIndex = caller
    let latest: LatestRows = {}
    let retry: Pick<RequestRecord, 'kind' | 'title'> | undefined
    for (let turn = caller; !stopped; turn++) {
      const { kind, title } = retry ?? choose(caller, turn, latest)
      const origin = origins[originIndex % origins.length] ?? ''
      const cookie = kind === 'export' ? exporter.cookie : writer
      const { id, tag } = requiredRow(kind, latest) ?? {}
      const entry = await sendLoadRequest({ agent, origin, cookie, kind, title, id, tag, highestCount })
      entries.push(entry)
      const isAnswered = entry.outcome === 'answered'
      retry = kind === 'createTaskOnce' && !isAnswered ? { kind, title } : undefined
      latest = updateLatest(latest, entry)
      highestCount = Math.max(highestCount, entry.count ?? 0)
      if (isAnswered) continue
      originIndex++
      await sleep(PAUSE)
    }
  }

  function choose(caller: number, turn: number, latest: LatestRows) {
    const scheduled = REQUEST_SEQUENCE[turn % REQUEST_SEQUENCE.length] ?? 'readCounter'
    const isPossible =
      scheduled === 'export'
        ? caller < EXPORTING_CALLERS
        : !PREREQUISITES[scheduled] || requiredRow(scheduled, latest) !== undefined
    const kind = isPossible ? scheduled : 'readCounter'
    const known = { readTask: latest.task?.title, shareNote: latest.note?.title, export: exporter.email }
    return { kind, title: new Map(Object.entries(known)).get(kind) ?? `${kind} ${caller} ${turn}` }
  }

  const callers = Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)))
  return {
    entries,
    stop: async () => {
      stopped = true
      await callers
      agent.destroy()
    },
  }
}

/** Returns the latest rows after a request. After a failed update, omits the task, because its state is unknown. */
function updateLatest(latest: LatestRows, entry: RequestRecord): LatestRows {
  const { kind, outcome, tag } = entry
  const isAnswered = outcome === 'answered'
  if (kind === 'updateTask')
    return { ...latest, task: isAnswered && latest.task ? { ...latest.task, tag } : undefined }
  if (!isAnswered) return latest
  if (kind === 'createTask' || kind === 'createTaskOnce') return { ...latest, task: entry }
  return kind === 'createNote' ? { ...latest, note: entry } : latest
}

/** Signs in two people at each instance, and one person for the exports. */
export async function signInAll(services: readonly Service[]): Promise<LoadAccounts> {
  const writers: string[] = []
  for (const { origin, dataDir } of services)
    for (const name of ['ada', 'bob']) writers.push(await signIn(origin, `${name}@example.com`, dataDir))
  const [first] = services
  if (!first) throw new Error('Signing in needs at least one service')
  const email = 'exporter@example.com'
  return { writers, exporter: { email, cookie: await signIn(first.origin, email, first.dataDir) } }
}
