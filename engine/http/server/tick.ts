/**
 * Tick batching: requests that arrive in one iteration of the event loop (a tick) are handled together, one stage after
 * the other. The CPU caches then keep the code of each stage, which saves up to half of the CPU time under load.
 *
 * Modes:
 * - direct (recently at most one request per iteration): a request is handled immediately. A request with a body waits
 *   for `process.nextTick`, because the rest of a small body has often arrived by then.
 * - batching (recently more than one request per iteration): requests are queued until `setImmediate`.
 *
 * Trade-off: in batching mode, a request waits for the end of the current iteration. The change from batching to direct
 * mode is slow, so that a short pause under load does not change the mode.
 */

/** Factor by which `recentPeak` decreases in each iteration with requests. */
const DECAY = 0.9

const requests: (() => void)[] = []
const answers: (() => void)[] = []
let arrived = 0
/** The recent maximum of requests per iteration. */
let recentPeak = 0

/**
 * Runs a callback immediately or on `process.nextTick` (direct mode), or at the end of this iteration of the event loop
 * together with all queued callbacks (batching mode).
 */
export function enqueueRequest(hasBody: boolean, callback: () => void) {
  if (++arrived === 1) setImmediate(handleRequests)
  if (recentPeak > 1 || arrived > 1) requests.push(callback)
  else if (hasBody) process.nextTick(callback)
  else callback()
}

/** Runs a callback when everything that is ready has been handled: answers that are ready together are written together. */
export function enqueueAnswer(callback: () => void) {
  if (answers.push(callback) === 1) process.nextTick(run, answers)
}

/** Waits until the answers that are ready have been written. */
export const answersWritten = () => new Promise<void>(enqueueAnswer)

function handleRequests() {
  recentPeak = Math.max(arrived, recentPeak * DECAY)
  arrived = 0
  run(requests)
}

/** Runs all callbacks. An exception becomes an uncaught exception, and the remaining callbacks run in the next iteration. */
function run(callbacks: (() => void)[]) {
  try {
    for (let callback = callbacks.shift(); callback; callback = callbacks.shift()) callback()
  } finally {
    if (callbacks.length > 0) setImmediate(run, callbacks)
  }
}
