import { isOutage } from '../db/errors.ts'
import { createStorage, disableStoragesAfter } from './async-storages.ts'

/** The current operation of better-auth. `outage` is the database outage that occurred during the operation, if any. */
const operations = createStorage<{ outage?: Error }>()

/**
 * Wraps the database adapter of better-auth. If a method of the adapter fails because of an outage, records the outage
 * in the current operation.
 *
 * The Proxy is needed until better-auth passes on all database errors: sign-out of 1.7.25 logs the error, and reports success.
 */
export const detectOutages = <Adapter extends object>(adapter: Adapter): Adapter =>
  new Proxy(adapter, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...parameters: unknown[]) => {
        try {
          return (await Reflect.apply(method, target, parameters)) as unknown
        } catch (error) {
          const operation = operations.getStore()
          if (operation && isOutage(error)) operation.outage = error
          throw error
        }
      }
    },
  })

/**
 * Runs an operation of better-auth. better-auth turns some database errors into answers such as "not signed in" or "no
 * such account". If an outage was recorded during the operation, throws the outage instead of returning the answer.
 */
export async function rethrowOutages<Result>(run: () => Promise<Result>): Promise<Result> {
  const operation: { outage?: Error } = {}
  const result = await disableStoragesAfter(() => operations.run(operation, run)).catch((error: unknown) => {
    throw operation.outage ?? error
  })
  if (operation.outage) throw operation.outage
  return result
}
