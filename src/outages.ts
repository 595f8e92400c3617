import { ORPCError } from '@orpc/client'
import { AsyncLocalStorage } from 'node:async_hooks'

import { unavailable } from '../contract/errors.ts'
import { isOrphan, isOutage } from '../db/errors.ts'

/** What a failure of the database is to whoever called, where it is none of ours: they are gone, or it is away. */
export function refusalOf(error: unknown) {
  if (isOrphan(error)) return new ORPCError('UNAUTHORIZED', { message: 'Sign in first' })
  return isOutage(error) ? unavailable('The database does not answer; try again') : undefined
}

/** The outage that better-auth met in what it was asked, if any. */
const met = new AsyncLocalStorage<{ outage?: Error }>()

/** Lets better-auth at its tables, and notices where they cannot be had. */
export const noticing = <Adapter extends object>(tables: Adapter): Adapter =>
  new Proxy(tables, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...given: unknown[]) => {
        try {
          return (await Reflect.apply(method, target, given)) as unknown
        } catch (error) {
          const asked = met.getStore()
          if (asked && isOutage(error)) asked.outage = error
          throw error
        }
      }
    },
  })

/**
 * Asks better-auth, which takes some failures for answers: nobody is signed in, nobody has an account, the session is
 * ended. Where it met an outage, that is thrown whatever it answered.
 */
export async function askingAuth<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const asked: { outage?: Error } = {}
  const result = await met.run(asked, ask).catch((error: unknown) => {
    throw asked.outage ?? error
  })
  if (asked.outage) throw asked.outage
  return result
}
