import postgres from 'postgres'

import { type Contender, LEAN, OURS } from './contenders.ts'
import { readCounter } from './correctness.ts'
import type { Generator } from './load.ts'
import { measureSlice, median, type Slice } from './measure.ts'
import { INCREMENT, type Operation } from './operations.ts'

/** The result of one contender, for one operation at one number of connections. */
export interface Measurement {
  operation: string
  connections: number
  contender: string
  /** One slice for each round, without the warm-up round. */
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
 * Returns the ratio of two results: the median of the ratios of all rounds. If the machine is slower for some time, the
 * ratio of a round remains reliable, because the slices of both contenders in this round are slower.
 */
export function ratio(key: 'rate' | 'cpu' | 'p50' | 'p99', ours: Measurement, theirs: Measurement): Ratio {
  const ratios = ours.slices.map((slice, round) => slice[key] / (theirs.slices[round]?.[key] ?? NaN))
  const sorted = ratios.toSorted((a, b) => a - b)
  const quartile = (fraction: number) => sorted[Math.round(fraction * (sorted.length - 1))] ?? NaN
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
  /** Number of rounds, besides one warm-up round. */
  rounds: number
  seconds: number
  /** If false, measures only the comparisons with the lean peer and the MCP SDK at 64 connections. */
  complete: boolean
}

function* cells({ contenders, operations, complete }: Plan) {
  const pair = contenders.filter(({ name }) => name === OURS || name === LEAN)
  const compared = complete
    ? contenders
    : [...pair, ...contenders.filter(({ protocol }) => protocol === 'mcp')]
  for (const operation of operations) {
    const supports = ({ protocol, takesPart }: Contender) => operation[protocol] && takesPart(operation)
    yield { operation, connections: ALL, contenders: compared.filter(supports) }
    if (!complete || !operation.rest) continue
    for (const connections of operation.name === INCREMENT ? [...FEW, MANY] : FEW)
      yield { operation, connections, contenders: pair }
  }
}

/**
 * Measures the contenders in rotation (A B C A B C) in short slices, so that other load on the machine affects all
 * contenders equally. The results of the first round of each operation are discarded.
 */
export async function measureAll(plan: Plan) {
  const measurements: Measurement[] = []
  for (const { operation, connections, contenders } of cells(plan)) {
    const slices = new Map<string, Slice[]>(contenders.map(({ name }) => [name, []]))
    for (let round = -1; round < plan.rounds; round++)
      for (const contender of contenders) {
        const slice = await measureChecked(plan, contender, operation, connections)
        if (round >= 0) slices.get(contender.name)?.push(slice)
      }
    for (const [contender, measured] of slices)
      measurements.push({ operation: operation.name, connections, contender, slices: measured })
    process.stdout.write(`${operation.name} at ${connections}\n`)
  }
  return measurements
}

/** Measures a slice. If the operation increments the counter, checks that no increment was lost. */
async function measureChecked(
  { generator, seconds }: Plan,
  contender: Contender,
  operation: Operation,
  connections: number,
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
  // At the end of a slice, one request of each connection may be in progress, so that its response is not counted.
  if (growth < responses || growth > responses + inFlight)
    throw new Error(`${name} answered ${responses} increments, and the counter grew by ${growth}`)
}
