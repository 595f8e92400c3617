import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'

import { MAX_PATH } from './log.ts'

/** Binds the handling of a request to the request. */
export type BindRequest = (request: IncomingMessage, handle: () => void) => () => void

/**
 * Logs rejected promises that no code awaits, with the request that created the promise. The process continues. Only for
 * development: the hook makes each promise of the process slower. In production, such a promise ends the process, because
 * the state of the process is unknown. Returns a function that binds the handling of a request to the request.
 */
export function logRejections(log: Logger): BindRequest {
  const storage = new AsyncLocalStorage<IncomingMessage>()
  const requests = new WeakMap<object, IncomingMessage>()
  createHook({
    init(_id, type, _trigger, resource) {
      const request = type === 'PROMISE' ? storage.getStore() : undefined
      if (request) requests.set(resource, request)
    },
  }).enable()
  process.on('unhandledRejection', (err, promise) => {
    const { id, method, url } = requests.get(promise) ?? {}
    const req = id === undefined ? {} : { req: { id, method, path: url?.slice(0, MAX_PATH) } }
    log.error(
      { err, ...req },
      'a promise was rejected, and no code awaits the promise; production would exit',
    )
  })
  return (request, handle) => () => {
    storage.run(request, handle)
  }
}
