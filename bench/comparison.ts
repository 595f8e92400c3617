import { type createSliceMeter, median, type Slice } from './measure.ts'
import type { Operation } from './operations.ts'
import type { Contender } from './servers.ts'

export interface Spread {
  median: number
  min: number
  max: number
}

/** The result of one contender, for one operation at one number of connections. */
export interface Measurement {
  operation: string
  connections: number
  contender: string
  rate: Spread
  p50: number
  p99: number
  cpu: number
  busy: number
  /** One slice for each round, without the warm-up round. */
  slices: Slice[]
}

/**
 * Returns the ratio of two results: the median of the ratios of all rounds. If the machine is slower for some time, the
 * ratio of a round remains reliable, because the slices of both contenders in this round are slower.
 */
export const ratio = (key: 'rate' | 'cpu' | 'p50' | 'p99', ours: Measurement, theirs: Measurement) =>
  median(ours.slices.map((slice, round) => slice[key] / (theirs.slices[round]?.[key] ?? NaN)))

interface Plan {
  contenders: Contender[]
  operations: Operation[]
  connections: number[]
  quick: boolean
  measureSlice: ReturnType<typeof createSliceMeter>
  readCounter: () => Promise<number>
}

/**
 * Measures the contenders in rotation (A B C A B C) in short slices, so that other load on the machine affects all
 * contenders equally.
 */
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
      // Performance targets exist for 1 and 64 connections. With these numbers of connections, slices are shorter and
      // more numerous, because the speed of the machine varies from second to second. Above 64 connections, slices are
      // longer, because the slowest servers need 0.5 s to send one response on every connection.
      const hasTarget = count === 1 || count === 64
      const length = quick ? 250 : hasTarget ? 200 : count > 64 ? 1000 : 400
      const slices = new Map<string, Slice[]>(contenders.map(({ name }) => [name, []]))
      const rounds = quick ? 2 : hasTarget ? 20 : 3
      // One warm-up round for each operation, before its measurements with the first number of connections. Its results
      // are discarded.
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
        // If the median rate is 0, other results cannot be compared with this result: a ratio to 0 is meaningless.
        if (result.rate.median === 0)
          throw new Error(`${contender}: ${operation.name} was not answered at ${count} connections`)
        measurements.push({ operation: operation.name, connections: count, contender, ...result })
      }
      process.stdout.write(`${operation.name} at ${count}\n`)
    }
  return measurements
}

function checkCounter(name: string, growth: number, responses: number, inFlight: number) {
  // For each connection, the counter may grow by up to three increments that `responses` does not include: a request
  // still in progress at the end of the slice, a response that arrives too late, and a request of the previous slice
  // that commits during this slice.
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
