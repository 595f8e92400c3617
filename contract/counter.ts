import * as z from 'zod'
import {
  publicAccess,
  type RateLimit,
  requestSchemas,
  resourceContract,
  responseSchemas,
  topic,
} from 'tallystick-contract'

export const Counter = z
  .object({ count: z.int() })
  .register(responseSchemas, { id: 'Counter', example: { count: 7 } })
/** The interface of the service has the name `inputValue`. */
const SetCount = z
  .object({ inputValue: z.int() })
  .register(requestSchemas, { id: 'SetCount', example: { inputValue: 7 } })
const CounterFragment = z
  .object({ count: z.int(), html: z.string(), renderedAt: z.iso.datetime() })
  .register(responseSchemas, {
    id: 'CounterFragment',
    example: { count: 7, html: '<output id="count">7</output>', renderedAt: '2026-01-01T10:00:00.000Z' },
  })

/** What a Datastar page receives from `fragment`. All other callers receive JSON. */
const datastarExample = `event: datastar-patch-elements
data: selector #server-fragment
data: mode inner
data: elements <output id="count">7</output>

event: datastar-patch-signals
data: signals {"count":7}

`

export const counterTopic = topic('counter', { access: 'public', state: Counter })

/** Shared by all procedures that change the counter. Counts by network. */
const changeLimit: RateLimit = { name: 'steps', points: 6000, duration: 60 }

const step = publicAccess
  .meta({ rateLimit: changeLimit, updates: [counterTopic] })
  .errors({ CONFLICT: { status: 409, message: 'The counter is at its limit' } })

export const counter = resourceContract({
  topics: [counterTopic],
  procedures: {
    get: publicAccess
      .meta({
        reads: counterTopic,
        tool: {
          title: 'Read the counter',
          description: 'Reads the shared counter.',
          effect: 'read',
        },
      })
      .route({ method: 'GET', path: '/api/counter', summary: 'Read the counter' })
      .output(Counter),
    increment: step
      .meta({
        tool: {
          title: 'Count up',
          description: 'Adds one to the shared counter.',
          effect: 'create',
        },
      })
      .route({ method: 'POST', path: '/api/counter/increment', summary: 'Add one to the counter' })
      .output(Counter),
    decrement: step
      .meta({
        tool: {
          title: 'Count down',
          description: 'Subtracts one from the shared counter.',
          effect: 'create',
        },
      })
      .route({ method: 'POST', path: '/api/counter/decrement', summary: 'Subtract one from the counter' })
      .output(Counter),
    set: publicAccess
      .meta({
        rateLimit: changeLimit,
        updates: [counterTopic],
        tool: {
          title: 'Set the counter',
          description: 'Sets the shared counter to a whole number.',
          effect: 'overwrite',
        },
      })
      .route({ method: 'POST', path: '/api/counter/set', summary: 'Set the counter' })
      .input(SetCount)
      .output(Counter),
    fragment: publicAccess
      .meta({ datastarExample })
      .route({
        method: 'GET',
        path: '/api/counter/fragment',
        summary: 'Read the counter as HTML',
        description: 'Returns the counter, an HTML fragment of the counter, and the time of the answer.',
      })
      .output(CounterFragment),
    reset: publicAccess
      .meta({
        rateLimit: changeLimit,
        updates: [counterTopic],
        tool: {
          title: 'Reset the counter',
          description: 'Sets the shared counter to zero.',
          effect: 'overwrite',
        },
      })
      .route({ method: 'POST', path: '/api/counter/reset', summary: 'Set the counter to zero' })
      .output(Counter),
  },
})
