import { type createSliceMeter, median, type Slice } from './measure.ts'
import type { Operation } from './operations.ts'
import type { Contender } from './servers.ts'

export interface Spread {
  median: number
  min: number
  max: number
}

/** The result of one contender for one operation and number of connections. */
export interface Measurement {
  operation: string
  connections: number
  contender: string
  rate: Spread
  p50: number
  p99: number
  cpu: number
  busy: number
  /** The slice of each round. */
  slices: Slice[]
}

/**
 * Returns the ratio of two results: the median of the ratios of all rounds. A temporary slowdown of the machine affects both
 * slices of a round, but not their ratio.
 */
export const ratio = (key: 'rate' | 'cpu' | 'p50' | 'p99', ours: Measurement, theirs: Measurement) =>
  median(ours.slices.map((slice, round) => slice[key] / (theirs.slices[round]?.[key] ?? NaN)))

interface Plan {
  contenders: Contender[]
  operations: Operation[]
  connections: number[]
  quick: boolean
  measureSlice: ReturnType<typeof createSliceMeter>
  /** Reads the counter from the database. */
  readCounter: () => Promise<number>
}

/** Measures the contenders in rotation (A B C A B C) in short slices, so that other load on the machine affects all of them. */
export async function measureAll({
  contenders,
  operations,
  connections,
  quick,
  measureSlice,
  readCounter,
}: Plan) {
  const measurements: Measurement[] = []
  for (const operation of operations)
    for (const count of connections) {
      // Numbers of connections with a target get more, shorter slices, because the speed of the machine varies from second
      // to second. Above 64 connections a slice is longer: the slowest servers need 0.5 s to answer once on each connection.
      const hasTarget = count === 1 || count === 64
      const length = quick ? 250 : hasTarget ? 200 : count > 64 ? 1000 : 400
      const slices = new Map<string, Slice[]>(contenders.map(({ name }) => [name, []]))
      const rounds = quick ? 2 : hasTarget ? 20 : 3
      // The first round of an operation is a warm-up and is discarded.
      const warmUpRounds = count === connections[0] ? 1 : 0
      for (let round = -warmUpRounds; round < rounds; round++)
        for (const contender of contenders) {
          const before = await readCounter()
          const slice = await measureSlice(contender, operation, count, length)
          if (operation.path.endsWith('/increment'))
            checkCounter(contender.name, (await readCounter()) - before, slice.responses, count)
          if (round >= 0) slices.get(contender.name)?.push(slice)
        }
      for (const [contender, measured] of slices) {
        const result = summarize(measured)
        // Without responses, a ratio to the result of this contender is meaningless.
        if (result.rate.median === 0)
          throw new Error(`${contender}: ${operation.name} was not answered at ${count} connections`)
        measurements.push({ operation: operation.name, connections: count, contender, ...result })
      }
      process.stdout.write(`${operation.name} at ${count}\n`)
    }
  return measurements
}

function checkCounter(name: string, growth: number, responses: number, inFlight: number) {
  // For each connection, up to three increments may have no counted response: one request is in progress at the end of the
  // slice, one response arrives too late to be counted, and one request of the previous slice commits during this slice.
  if (growth < responses || growth > responses + 3 * inFlight)
    throw new Error(`${name} answered ${responses} increments, and the counter grew by ${growth}`)
}

function summarize(slices: Slice[]) {
  const rates = slices.map(({ rate }) => rate)
  const medianOf = (key: keyof Slice) => median(slices.map((slice) => slice[key]))
  return {
    rate: { median: median(rates), min: Math.min(...rates), max: Math.max(...rates) },
    p50: medianOf('p50'),
    p99: medianOf('p99'),
    cpu: medianOf('cpu'),
    busy: medianOf('busy'),
    slices,
  }
}
