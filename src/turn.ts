const due: (() => void)[] = []

/**
 * Runs something when the loop has turned, and all that had come over the network has been read. To do one thing for many
 * requests and then the next keeps its code in the processor's caches: that takes down to half the CPU of doing everything
 * for one request after another.
 */
export function atTurn(run: () => void) {
  if (due.push(run) === 1) setImmediate(runAll)
}

function runAll() {
  for (const run of due.splice(0)) run()
}
