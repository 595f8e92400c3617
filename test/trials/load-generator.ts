import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { ask, type Entry, type Work } from './load-request.ts'
import { type Service, signIn } from './service-process.ts'

const TURNS: readonly Work[] = [
  'step',
  'task',
  'once',
  'match',
  'count',
  'note',
  'share',
  'own',
  'match',
  'export',
]

const CALLERS = 32

/** Between a failure and the next request of whoever met it, in milliseconds. */
const PAUSE = 200

export interface People {
  /** The cookies of people who change things. */
  writers: readonly string[]
  /** Has little to export, however long the load goes on. */
  exporter: { email: string; cookie: string }
}

/** The task and the note that a caller created last, while their states are known. */
type Own = Partial<Record<'task' | 'note', Entry>>

/** Which of them a request needs. */
const NEEDS: Partial<Record<Work, keyof Own>> = { own: 'task', match: 'task', share: 'note' }

const needed = (work: Work, own: Own) => {
  const need = NEEDS[work]
  return need && own[need]
}

/**
 * Starts callers that send one request after another, spread over the origins, until they are stopped. After a failure a
 * caller goes on to the next origin, and sends a request with an `Idempotency-Key` again. Every request is recorded.
 */
export function startLoad(origins: readonly string[], { writers, exporter }: People) {
  const entries: Entry[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS })
  let stopped = false
  let highest = 0

  async function call(caller: number) {
    const writer = writers[caller % writers.length] ?? ''
    let place = caller
    let own: Own = {}
    let again: Pick<Entry, 'work' | 'title'> | undefined
    for (let turn = caller; !stopped; turn++) {
      const { work, title } = again ?? choose(caller, turn, own)
      const origin = origins[place % origins.length] ?? ''
      const cookie = work === 'export' ? exporter.cookie : writer
      const { id, tag } = needed(work, own) ?? {}
      const entry = await ask({ agent, origin, cookie, work, title, id, tag, highest })
      entries.push(entry)
      const isAnswered = entry.outcome === 'answered'
      again = work === 'once' && !isAnswered ? { work, title } : undefined
      own = remember(own, entry)
      highest = Math.max(highest, entry.count ?? 0)
      if (isAnswered) continue
      place++
      await sleep(PAUSE)
    }
  }

  function choose(caller: number, turn: number, own: Own) {
    const wanted = TURNS[turn % TURNS.length] ?? 'count'
    const work = NEEDS[wanted] && !needed(wanted, own) ? 'count' : wanted
    const told = { own: own.task?.title, share: own.note?.title, export: exporter.email }
    return { work, title: new Map(Object.entries(told)).get(work) ?? `${work} ${caller} ${turn}` }
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

/** After a change without an answer the state of a task is unknown. */
function remember(own: Own, entry: Entry): Own {
  const { work, outcome, tag } = entry
  const isAnswered = outcome === 'answered'
  if (work === 'match') return { ...own, task: isAnswered && own.task ? { ...own.task, tag } : undefined }
  if (!isAnswered) return own
  if (work === 'task' || work === 'once') return { ...own, task: entry }
  return work === 'note' ? { ...own, note: entry } : own
}

/** Signs people in at each of the instances. */
export async function signInAll(services: readonly Service[]): Promise<People> {
  const writers: string[] = []
  for (const { origin, dataDir } of services)
    for (const name of ['ada', 'bob']) writers.push(await signIn(origin, `${name}@example.com`, dataDir))
  const [first] = services
  if (!first) throw new Error('There is no service to sign in at')
  const email = 'exporter@example.com'
  return { writers, exporter: { email, cookie: await signIn(first.origin, email, first.dataDir) } }
}
