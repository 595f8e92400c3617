import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { ask, type Entry, type Work } from './ask.ts'
import { type Service, signIn } from './process.ts'

const TURNS: readonly Work[] = ['step', 'task', 'count', 'note', 'own']

const CALLERS = 32

/** Between a failure and the next request of whoever met it, in milliseconds. */
const PAUSE = 200

/**
 * Callers that ask one thing after another, spread over the addresses, until told to stop. Who meets a failure goes on
 * to the next address. Everything is written down.
 */
export function startLoad(origins: readonly string[], cookies: readonly string[]) {
  const entries: Entry[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS })
  let stopped = false
  let highest = 0

  async function call(caller: number) {
    const cookie = cookies[caller % cookies.length] ?? ''
    let place = caller
    let own: Entry | undefined
    for (let turn = caller; !stopped; turn++) {
      const wanted = TURNS[turn % TURNS.length] ?? 'count'
      const work = wanted === 'own' && !own ? 'count' : wanted
      const title = work === 'own' ? (own?.title ?? '') : `${work} ${caller} ${turn}`
      const origin = origins[place % origins.length] ?? ''
      const entry = await ask({ agent, origin, cookie, work, title, id: own?.id, highest })
      entries.push(entry)
      if (entry.outcome !== 'answered') {
        place++
        await sleep(PAUSE)
        continue
      }
      highest = Math.max(highest, entry.count ?? 0)
      if (work === 'task') own = entry
    }
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

/** The cookies of some people, each signed in at each of the instances. */
export async function signInAll(services: readonly Service[]) {
  const cookies: string[] = []
  for (const { origin, dataDir } of services)
    for (const name of ['ada', 'bob']) cookies.push(await signIn(origin, `${name}@example.com`, dataDir))
  return cookies
}
