import { AsyncLocalStorage } from 'node:async_hooks'

const storages = new Set<Pick<AsyncLocalStorage<unknown>, 'disable'>>()
let running = 0

/** Adds storages of a library, which `disableStoragesAfter` then disables while no call runs. */
export const disableWhenIdle = (...added: Pick<AsyncLocalStorage<unknown>, 'disable'>[]) => {
  for (const storage of added) storages.add(storage)
}

/** Creates a storage. Each `run` must be part of a call of `disableStoragesAfter`. */
export function createStorage<Store>() {
  const storage = new AsyncLocalStorage<Store>()
  disableWhenIdle(storage)
  return storage
}

/**
 * Runs a call that uses storages, and disables all storages as soon as no such call is running. Reason: up to Node 22,
 * an enabled storage makes every promise of the process slower, which adds up to half of the CPU time of a request.
 * `run` enables a storage again. From Node 24, storages have no such cost. Needed until the service requires Node 24.
 */
export async function disableStoragesAfter<Result>(work: () => Promise<Result>) {
  running++
  try {
    return await work()
  } finally {
    if (--running === 0) for (const storage of storages) storage.disable()
  }
}
