import { implement } from '@orpc/server'
import { type Context, type Patch, type Resource, withoutCaller } from 'tallystick'

import { counter as counterContract, counterTopic } from '../contract/counter.ts'
import * as query from '../db/counter.ts'
import { counterHtml } from './html/counter.ts'

const os = implement(counterContract.procedures).$context<Context>().use(withoutCaller)

const procedures = os.router({
  get: os.get.handler(async ({ context: { db } }) => ({ count: await query.get(db) })),

  increment: os.increment.handler(async ({ context, errors }) => {
    // Undefined at the limit of the counter.
    const count = await query.add(context.db, 1)
    if (count === undefined) throw errors.CONFLICT()
    return { count }
  }),

  decrement: os.decrement.handler(async ({ context, errors }) => {
    const count = await query.add(context.db, -1)
    if (count === undefined) throw errors.CONFLICT()
    return { count }
  }),

  set: os.set.handler(async ({ context: { db }, input }) => ({
    count: await query.set(db, input.inputValue),
  })),

  /** For Datastar pages: the element that shows the value. */
  fragment: os.fragment.handler(async ({ context: { db } }) => {
    const count = await query.get(db)
    return { count, html: counterHtml(count), renderedAt: new Date().toISOString() }
  }),

  reset: os.reset.handler(async ({ context: { db } }) => ({ count: await query.set(db, 0) })),
})

const patch = ({ count }: { count: number }): Patch => ({
  selector: '#server-fragment',
  html: counterHtml(count),
  signals: { count },
})

export const counter = {
  description: 'One counter that everybody shares.',
  procedures,
  datastar: {
    patches: { fragment: patch },
    live: { topic: counterTopic, patch },
  },
} satisfies Resource
