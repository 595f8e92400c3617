import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Busy processors above which the machine is too busy for a benchmark. */
const MAX_BUSY = 0.15
/** Duration of a probe, in ms. */
const DURATION = 2000

/** The time since the start of the machine, and its idle part, for all processors together. Undefined on other systems than Linux. */
function readTimes() {
  if (process.platform !== 'linux') return undefined
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/) ?? []
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, ...others] = fields.slice(0, 8).map(Number)
  return { idle: idle + wait, busy: [user, nice, system, ...others].reduce((sum, time) => sum + time, 0) }
}

/** Thrown if other programs use the machine. */
export class MachineBusy extends Error {
  constructor(share: number) {
    super(`The machine is busy: other programs use ${Math.round(share * 100)} % of its processors`)
  }
}

/** Waits, and throws MachineBusy if something uses the processors although the benchmark sends no requests. */
export async function requireIdle() {
  const before = readTimes()
  await sleep(DURATION)
  const after = readTimes()
  if (!before || !after) return
  const busy = after.busy - before.busy
  const share = busy / (busy + after.idle - before.idle)
  if (share > MAX_BUSY) throw new MachineBusy(share)
}
