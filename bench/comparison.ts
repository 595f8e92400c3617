import postgres from 'postgres'

import { type Contender, LEAN, OURS, supports } from './contenders.ts'
import { readCounter } from './correctness.ts'
import { type Generator, sendLoad } from './load.ts'
import { measureSlice, median, requestsOf, type Slice } from './measure.ts'
import { INCREMENT, type Operation, operations, type Request } from './operations.ts'

/** The result of one contender, for one operation at one number of connections. */
export interface Measurement {
  operation: string
  connections: number
  contender: string
  /** One slice for each round. */
  slices: Slice[]
}

export const medianOf = (key: keyof Slice, { slices }: Measurement) => median(slices.map((each) => each[key]))

/** The ratio of two results, and how far the ratios of the rounds are spread around it. */
export interface Ratio {
  median: number
  /** Half of the difference between the upper and the lower quartile. */
  spread: number
}

/**
 * Returns how much less CPU time one contender needs than another: the median of the ratios of all rounds. If the machine
 * is slower for some time, the ratio of a round remains reliable, because the slices of both contenders in this round are
 * slower.
 */
export const cpuRatio = (ours: Measurement, theirs: Measurement) => ratio('cpu', theirs, ours)

/** Returns the ratio of two results. */
export function ratio(key: 'rate' | 'cpu' | 'p50' | 'p99', ours: Measurement, theirs: Measurement): Ratio {
  const ratios = ours.slices.map((slice, round) => slice[key] / (theirs.slices[round]?.[key] ?? NaN))
  const sorted = ratios.toSorted((a, b) => a - b)
  /** Interpolates between the two nearest ratios. */
  const quartile = (fraction: number) => {
    const position = fraction * (sorted.length - 1)
    const [below = NaN, above = NaN] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]]
    return below + (above - below) * (position % 1)
  }
  return { median: median(ratios), spread: (quartile(0.75) - quartile(0.25)) / 2 }
}

/** The numbers of connections. All contenders are measured at 64 connections. */
export const ALL = 64
/** At these numbers of connections, only Tallystick and the lean peer are measured, for the latency. */
const FEW = [1, 8]
/** At this number of connections, only increments of Tallystick and the lean peer are measured. */
const MANY = 256

export interface Plan {
  contenders: Contender[]
  operations: Operation[]
  generator: Generator
  /** Duration of a slice, in seconds. */
  seconds: number
  /** Duration of the warm-up before each slice, in seconds. */
  warmUp: number
  /** If false, measures only the comparisons with the lean peer and the MCP SDK at 64 connections. */
  complete: boolean
}

const isLeanOrOurs = ({ name }: Contender) => name === OURS || name === LEAN

const comparedContenders = ({ contenders, complete }: Plan) =>
  contenders.filter((contender) => complete || isLeanOrOurs(contender) || contender.protocol === 'mcp')

function* cells(plan: Plan) {
  const compared = comparedContenders(plan)
  for (const operation of plan.operations) {
    yield {
      operation,
      connections: ALL,
      contenders: compared.filter((contender) => supports(contender, operation)),
    }
    if (!plan.complete || !operation.rest) continue
    for (const connections of operation.name === INCREMENT ? [...FEW, MANY] : FEW)
      yield { operation, connections, contenders: compared.filter(isLeanOrOurs) }
  }
}

/** The result of one contender in one round. */
type Result = Omit<Measurement, 'slices'> & { slice: Slice }

/**
 * Measures every contender once for each operation, in short slices, so that other load on the machine affects all
 * contenders equally. Immediately before its slice, each contender has a warm-up, because Node.js compiles code again
 * after a change of the operation and after a pause.
 */
export async function measureRound(plan: Plan) {
  await warmUp(plan)
  const results: Result[] = []
  for (const { operation, connections, contenders } of cells(plan)) {
    for (const contender of contenders) {
      await measureChecked(plan, contender, operation, connections, plan.warmUp)
      const slice = await measureChecked(plan, contender, operation, connections, plan.seconds)
      results.push({ operation: operation.name, connections, contender: contender.name, slice })
    }
    process.stdout.write(`${operation.name} at ${connections}\n`)
  }
  return results
}

/** Duration of the first load of a new process, in seconds. */
const WARM_UP_SECONDS = 5

/**
 * Loads every server with a mix of all its requests, like a server in use. A new process is slow until Node.js has compiled
 * its code. With one kind of request after another, Node.js would compile the code again at each change.
 */
async function warmUp(plan: Plan) {
  const contenders = comparedContenders(plan)
  for (const server of new Set(contenders.map((contender) => contender.server))) {
    const requests = await mixedRequests(contenders.filter((contender) => contender.server === server))
    const load = { origin: server.origin, requests, connections: ALL, seconds: WARM_UP_SECONDS }
    const { failed } = await sendLoad(plan.generator, load)
    if (failed > 0) throw new Error(`${failed} requests of the warm-up failed`)
  }
}

/** Returns all requests of some contenders, in the order: the first request of each operation, the second, and so on. */
async function mixedRequests(contenders: Contender[]) {
  const requests: Request[][] = []
  for (const operation of operations)
    for (const contender of contenders)
      if (supports(contender, operation)) requests.push(await requestsOf(contender, operation))
  const callers = Math.max(...requests.map((ofCallers) => ofCallers.length))
  return Array.from({ length: callers }, (_, caller) =>
    requests.flatMap((ofCallers) => ofCallers[caller % ofCallers.length] ?? []),
  ).flat()
}

/** Combines the results of all rounds, which have the same order. */
export const combineRounds = ([first = [], ...rest]: Result[][]): Measurement[] =>
  first.map(({ slice, ...measured }, index) => ({
    ...measured,
    slices: [slice, ...rest.flatMap((round) => round[index]?.slice ?? [])],
  }))

/** Measures a slice. If the operation increments the counter, checks that no increment was lost. */
async function measureChecked(
  { generator }: Plan,
  contender: Contender,
  operation: Operation,
  connections: number,
  seconds: number,
) {
  const { name, database } = contender
  const measure = () => measureSlice(generator, contender, operation, connections, seconds)
  if (operation.name !== INCREMENT || database === undefined) return measure()
  const sql = postgres(database, { max: 1 })
  const before = await readCounter(sql)
  const slice = await measure()
  checkCounter(name, (await readCounter(sql)) - before, slice.responses, connections)
  await sql.end()
  return slice
}

function checkCounter(name: string, growth: number, responses: number, inFlight: number) {
  // Up to `inFlight` requests of the warm-up may increment the counter after the start of the slice, if the disk is slow.
  // At the end of the slice, as many requests may be in progress, so that their responses are not counted.
  if (growth < responses || growth > responses + 2 * inFlight)
    throw new Error(`${name} answered ${responses} increments, and the counter grew by ${growth}`)
}
