import { unavailable } from 'tallystick-contract/internal'

/** Maximum pause of an account after a turn, in milliseconds. */
const MAX_PAUSE = 1000

interface Account {
  waiting: (() => void)[]
  /** The end of the pause, in milliseconds since the start of the process. */
  readyAt: number
}

/**
 * Turns of slow reads: one at a time in the process.
 * - The accounts alternate, so that an account waits for at most one turn of each other account.
 * - After a turn, the account pauses for as long as the turn has taken, at most MAX_PAUSE. Slow reads of one account use at most half of
 *   the time, unless a turn takes longer than MAX_PAUSE. Short calls of other people use the rest.
 * - A turn begins in a later iteration of the event loop than the end of the turn before, because the embedded database runs in this process: several
 *   statements in one iteration would block the event loop.
 */
export function createTurns() {
  const accounts = new Map<string, Account>()
  let isBusy = false
  let timer: NodeJS.Timeout | undefined

  function startNext() {
    clearTimeout(timer)
    if (isBusy) return
    const now = performance.now()
    let earliest = Infinity
    for (const [id, account] of accounts) {
      if (account.readyAt > now) {
        if (account.waiting.length > 0) earliest = Math.min(earliest, account.readyAt)
        continue
      }
      const beginTurn = account.waiting.shift()
      if (beginTurn) {
        isBusy = true
        beginTurn()
        return
      }
      // The pause is over, and no call waits.
      accounts.delete(id)
    }
    if (earliest < Infinity) timer = setTimeout(startNext, earliest - now)
  }

  /** Waits for a turn of the account, and runs `read`. Throws 503 if `isAbandoned` returns true when the turn begins. */
  return async <Result>(id: string, read: () => Promise<Result>, isAbandoned = () => false) => {
    const account = accounts.get(id) ?? { waiting: [], readyAt: 0 }
    accounts.set(id, account)
    await new Promise<void>((resolve) => {
      account.waiting.push(resolve)
      startNext()
    })
    const startedAt = performance.now()
    try {
      if (isAbandoned()) throw unavailable('The client has closed the connection')
      return await read()
    } finally {
      const endedAt = performance.now()
      account.readyAt = endedAt + Math.min(endedAt - startedAt, MAX_PAUSE)
      // Moves the account behind all others, because `startNext` takes the first account that is ready.
      accounts.delete(id)
      accounts.set(id, account)
      setImmediate(() => {
        isBusy = false
        startNext()
      })
    }
  }
}
