/**
 * Tick batching: requests that arrive in one iteration of the event loop are handled together, one stage after the other.
 * The code of each stage then stays in the caches of the processor, which saves up to half of the CPU time under load.
 *
 * Modes:
 * - direct (at most one request per iteration lately): a request is handled immediately. A request with a body waits for
 *   `process.nextTick`, because the rest of a small body is often already there.
 * - batching (more than one request per iteration): requests are queued until `setImmediate`, and answers are written after
 *   all of them have been handled.
 *
 * Trade-off: a request in batching mode waits for the end of the current iteration. The mode falls back to direct slowly,
 * by 10 % per iteration, so that a short pause under load does not change the mode.
 */

const DECAY = 0.9

const queued: (() => void)[] = []
const afterwards: (() => void)[] = []
let isFlushing = false
let arrived = 0
/** Requests per iteration: the latest peak, which decays. */
let recentPeak = 0

/** Runs a callback in this iteration of the event loop (direct mode), or with the others at its end (batching mode). */
export function enqueueForTick(hasBody: boolean, callback: () => void) {
  if (++arrived === 1) setImmediate(flush)
  if (recentPeak > 1 || arrived > 1) queued.push(callback)
  else if (hasBody) process.nextTick(callback)
  else callback()
}

/** Runs a callback after the current flush, or immediately if no flush is running. */
export function afterFlush(callback: () => void) {
  if (isFlushing) afterwards.push(callback)
  else callback()
}

/** If a callback throws, the error is uncaught; the other callbacks still run. */
function flush() {
  recentPeak = Math.max(arrived, recentPeak * DECAY)
  arrived = 0
  isFlushing = true
  try {
    drain(queued)
  } finally {
    isFlushing = false
    if (queued.length > 0) setImmediate(flush)
    drain(afterwards)
  }
}

function drain(callbacks: (() => void)[]) {
  for (let callback = callbacks.shift(); callback; callback = callbacks.shift()) callback()
}
