import fc from 'fast-check'
import { setTimeout as sleep } from 'node:timers/promises'

import { type ActorOperation, actorOperations } from './actor-operations.ts'
import { type Actor, type ActorContext, createActor, createActorPair } from './actors.ts'
import { forEachConcurrently } from './concurrency.ts'
import { oauthOperations } from './oauth-operations.ts'
import { useTemporaryAccount } from './temporary-accounts.ts'

const PAIRS = 8
const TEMPORARY_ACCOUNTS = 2
/** Size of the long list: almost 1 MiB, the limit of a page, so that PostgreSQL sends the result in many segments. */
const LONG_LIST = { tasks: 110, characters: 9000 }
/** Pause between two operations of an actor, in milliseconds. */
const PAUSE = 20
/** Pause between two reads of the long list, in milliseconds. */
const LIST_PAUSE = 300

const allOperations: ActorOperation[] = Object.values({ ...actorOperations, ...oauthOperations })

/** Creates pairs of actors. The last element of the result is a single actor with a long list of tasks. */
export async function createActors(context: ActorContext) {
  const actors: Actor[] = []
  for (let pair = 0; pair < PAIRS; pair++)
    actors.push(...(await createActorPair(context, pair % 2 ? 'RPC' : 'REST')))
  const reader = await createActor(context, 'REST')
  await forEachConcurrently(8, Array.from({ length: LONG_LIST.tasks }), async () => {
    const [taskTitle, taskDesc] = [reader.uniqueTitle('task'), 'x'.repeat(LONG_LIST.characters)]
    const row = reader.tasks.add(taskTitle, taskDesc)
    const { id } = await reader.client.tasks.create({ taskTitle, taskDesc })
    Object.assign(row, { id, mayBeAbsent: false })
  })
  return [...actors, reader]
}

/**
 * Runs random operations of all actors except the last actor, which only reads its long list of tasks. Also creates and
 * deletes temporary accounts. Continues until `stop` is called.
 */
export function startActors(context: ActorContext, actors: readonly Actor[], seed: number) {
  const deleted: Actor[] = []
  let stopped = false
  const runActor = async (actor: Actor, index: number) => {
    const draws = fc.sample(fc.noBias(fc.nat()), { seed: seed + index, numRuns: 1000 })
    for (let turn = 0; !stopped; turn++) {
      const drawn = draws[turn % draws.length] ?? 0
      await allOperations[drawn % allOperations.length]?.(actor, context, turn)
      await sleep(PAUSE)
    }
  }
  const runReader = async (reader: Actor) => {
    for (let turn = 0; !stopped; turn++) {
      await actorOperations['list tasks'](reader)
      await sleep(LIST_PAUSE)
    }
  }
  const runTemporaryAccounts = async () => {
    for (let turn = 0; !stopped; turn++) deleted.push(await useTemporaryAccount(context, turn))
  }
  const [reader] = actors.slice(-1)
  const done = Promise.all([
    ...actors.slice(0, -1).map(runActor),
    ...(reader ? [runReader(reader)] : []),
    ...Array.from({ length: TEMPORARY_ACCOUNTS }, runTemporaryAccounts),
  ])
  return {
    deleted,
    /** Rejects if an actor throws. Otherwise never settles, so that the promise can take part in `Promise.race`. */
    failed: done.then(() => new Promise<never>(() => undefined)),
    stop: async () => {
      stopped = true
      await done
    },
  }
}
