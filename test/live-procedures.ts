import { eventIterator } from '@orpc/contract'
import { type AnyProcedure, implement, Procedure, withEventMeta } from '@orpc/server'
import { once } from 'node:events'
import { z } from 'zod'

import { publicAccess } from '../contract/base.ts'
import type { Context } from '../src/context.ts'

const Numbered = z.object({ n: z.number(), padding: z.string().optional() })
const Count = z.object({ to: z.coerce.number(), failAt: z.coerce.number().optional() })
const builder = publicAccess.errors({ TOO_FAR: { status: 409, data: z.object({ at: z.number() }) } })

/** Procedures that answer with events. The contract of the service has no such procedure. */
export const liveContract = {
  live: {
    count: builder
      .route({ method: 'GET', path: '/api/live/count' })
      .input(Count)
      .output(eventIterator(Numbered)),
    crash: builder.route({ method: 'GET', path: '/api/live/crash' }).output(eventIterator(Numbered)),
    flood: builder.route({ method: 'GET', path: '/api/live/flood' }).output(eventIterator(Numbered)),
    wait: builder.route({ method: 'GET', path: '/api/live/wait' }).output(eventIterator(Numbered)),
  },
}

/** What the procedures have done: the number of events, and the number of ended iterators. */
export const done = { produced: 0, ended: 0 }

export const PADDING = 'x'.repeat(100_000)

const { live } = implement(liveContract).$context<Context>()

/** Implements the procedures with the guard, which is the middleware of the given procedure. */
export function createLiveRouter(guarded: AnyProcedure) {
  const { middlewares, inputValidationIndex, outputValidationIndex } = guarded['~orpc']
  const positions = { inputValidationIndex, outputValidationIndex }
  const guard = (procedure: AnyProcedure) =>
    new Procedure({ ...procedure['~orpc'], middlewares, ...positions })

  return Object.fromEntries(Object.entries(handlers).map(([name, each]) => [name, guard(each)]))
}

const handlers = {
  count: live.count.handler(async function* ({ input: { to, failAt }, lastEventId = '0', errors }) {
    try {
      for (let n = Number(lastEventId) + 1; n <= to; n++) {
        if (n === failAt && lastEventId === '0') throw errors.TOO_FAR({ data: { at: n } })
        done.produced++
        yield await Promise.resolve(withEventMeta({ n }, { id: String(n) }))
      }
    } finally {
      done.ended++
    }
  }),
  crash: live.crash.handler(async function* () {
    yield await Promise.resolve({ n: 1 })
    throw new Error('swordfish')
  }),
  flood: live.flood.handler(async function* () {
    try {
      for (let n = 1; ; n++) {
        done.produced++
        yield await Promise.resolve({ n, padding: PADDING })
      }
    } finally {
      done.ended++
    }
  }),
  wait: live.wait.handler(async function* ({ signal }) {
    try {
      yield { n: 1 }
      if (signal) await once(signal, 'abort')
    } finally {
      done.ended++
    }
  }),
}
