import { z } from 'zod'

import { answers, open, requests } from './base.ts'

export const Counter = z.object({ count: z.int() }).register(answers, { id: 'Counter' })
export const SetCount = z.object({ inputValue: z.int() }).register(requests, { id: 'SetCount' })
export const CounterFragment = z
  .object({ count: z.int(), html: z.string(), renderedAt: z.iso.datetime() })
  .register(answers, { id: 'CounterFragment' })

const step = open.errors({ CONFLICT: { status: 409, message: 'The counter is at its limit' } })

export const counter = {
  get: open.route({ method: 'GET', path: '/api/counter', summary: 'Read the counter' }).output(Counter),
  increment: step
    .route({ method: 'POST', path: '/api/counter/increment', summary: 'Add one to the counter' })
    .output(Counter),
  decrement: step
    .route({ method: 'POST', path: '/api/counter/decrement', summary: 'Take one from the counter' })
    .output(Counter),
  set: open
    .route({ method: 'POST', path: '/api/counter/set', summary: 'Set the counter' })
    .input(SetCount)
    .output(Counter),
  fragment: open
    .route({ method: 'GET', path: '/api/counter/fragment', summary: 'Read the counter as HTML' })
    .output(CounterFragment),
  reset: open
    .route({ method: 'POST', path: '/api/counter/reset', summary: 'Set the counter to zero' })
    .output(Counter),
}
