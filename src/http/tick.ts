const due: (() => void)[] = []
const ending: (() => void)[] = []
let isRunning = false
let came = 0
/** How many requests have come in one turn of the loop, lately: after a crowd it takes some turns to fall to one. */
let lately = 0

/**
 * Runs something when the loop has turned, and all that had come over the network has been read. To do one thing for many
 * requests and then the next keeps its code in the processor's caches: that takes down to half the CPU of doing everything
 * for one request after another. Who comes alone, and has for a while, waits for nobody but the rest of their own body.
 */
export function atTurn(hasBody: boolean, run: () => void) {
  if (++came === 1) setImmediate(endTurn)
  if (lately > 1 || came > 1) due.push(run)
  else if (hasBody) process.nextTick(run)
  else run()
}

/** Runs something when all that was due has been run; at once, if nothing is. */
export function afterTurn(run: () => void) {
  if (isRunning) ending.push(run)
  else run()
}

function endTurn() {
  lately = Math.max(came, lately * 0.9)
  came = 0
  isRunning = true
  for (const run of due.splice(0)) run()
  isRunning = false
  for (const run of ending.splice(0)) run()
}
