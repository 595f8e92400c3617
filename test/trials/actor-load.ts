import fc from 'fast-check'
import { setTimeout as sleep } from 'node:timers/promises'

import { apps } from './oauth-operations.ts'
import { bring, bringPair, type Person, type Scene } from './actors.ts'
import { visit } from './temporary-accounts.ts'
import { inLanes } from './concurrency.ts'
import { mix, type Work } from './actor-operations.ts'

const PAIRS = 8
const GUESTS = 2
/** A list of several megabytes, which PostgreSQL sends in many pieces. */
const LONG_LIST = { tasks: 400, characters: 9000 }
/** Between two works of a person, and between two readings of the long list, in milliseconds. */
const PAUSE = 20
const LONG_PAUSE = 300

const works: Work[] = Object.values({ ...mix, ...apps })

/** Pairs of people, and last a person whose list of tasks is long. */
export async function gather(scene: Scene) {
  const people: Person[] = []
  for (let pair = 0; pair < PAIRS; pair++) people.push(...(await bringPair(scene, pair % 2 ? 'RPC' : 'REST')))
  const reader = await bring(scene, 'REST')
  await inLanes(8, Array.from({ length: LONG_LIST.tasks }), async () => {
    const [taskTitle, taskDesc] = [reader.title('task'), 'x'.repeat(LONG_LIST.characters)]
    const thing = reader.tasks.add(taskTitle, taskDesc)
    const { id } = await reader.client.tasks.create({ taskTitle, taskDesc })
    Object.assign(thing, { id, mayLack: false })
  })
  return [...people, reader]
}

/** Everybody does one thing after another until told to stop; guests come and go. */
export function startCrowd(scene: Scene, people: readonly Person[], seed: number) {
  const gone: Person[] = []
  let stopped = false
  const act = async (person: Person, index: number) => {
    const turns = fc.sample(fc.noBias(fc.nat()), { seed: seed + index, numRuns: 1000 })
    for (let turn = 0; !stopped; turn++) {
      const drawn = turns[turn % turns.length] ?? 0
      await works[drawn % works.length]?.(person, scene, turn)
      await sleep(PAUSE)
    }
  }
  const read = async (reader: Person) => {
    for (let turn = 0; !stopped; turn++) {
      await mix['list tasks'](reader)
      await sleep(LONG_PAUSE)
    }
  }
  const receive = async () => {
    for (let turn = 0; !stopped; turn++) gone.push(await visit(scene, turn))
  }
  const [reader] = people.slice(-1)
  const done = Promise.all([
    ...people.slice(0, -1).map(act),
    ...(reader ? [read(reader)] : []),
    ...Array.from({ length: GUESTS }, receive),
  ])
  return {
    gone,
    /** Rejects if a person cannot go on. */
    failed: done.then(() => new Promise<never>(() => undefined)),
    stop: async () => {
      stopped = true
      await done
    },
  }
}
