import type { Contender } from './servers.ts'
import { type createMeter, median, type Slice } from './measure.ts'
import type { Work } from './requests.ts'

export interface Spread {
  median: number
  least: number
  most: number
}

/** What one contender came to, at one work and so many connections. */
export interface Cell {
  work: string
  connections: number
  contender: string
  rate: Spread
  p50: number
  p99: number
  cpu: number
  busy: number
  /** By round. */
  slices: Slice[]
}

/**
 * How many times theirs ours is: the median of what the rounds came to. What slows the machine for some seconds slows
 * both slices of a round, and not their ratio.
 */
export const ratio = (key: 'rate' | 'cpu' | 'p50' | 'p99', ours: Cell, theirs: Cell) =>
  median(ours.slices.map((slice, round) => slice[key] / (theirs.slices[round]?.[key] ?? NaN)))

interface Plan {
  contenders: Contender[]
  works: Work[]
  connections: number[]
  quick: boolean
  fire: ReturnType<typeof createMeter>
  /** The counter as the database has it. */
  count: () => Promise<number>
}

/** Short slices in turn, A B C A B C, so that whatever else the machine does meets all of them. */
export async function measureAll({ contenders, works, connections, quick, fire, count }: Plan) {
  const cells: Cell[] = []
  for (const work of works)
    for (const many of connections) {
      // Where there is a target: shorter ones, and more, since the machine changes its pace by the second. At 256 the slowest
      // take half a second for all of them.
      const isAimedAt = many === 1 || many === 64
      const length = quick ? 250 : isAimedAt ? 200 : many > 64 ? 1000 : 400
      const slices = new Map<string, Slice[]>(contenders.map(({ name }) => [name, []]))
      const rounds = quick ? 2 : isAimedAt ? 20 : 3
      // The first round of a work warms up, and does not count.
      const warm = many === connections[0] ? 1 : 0
      for (let round = -warm; round < rounds; round++)
        for (const contender of contenders) {
          const before = await count()
          const slice = await fire(contender, work, many, length)
          if (work.path.endsWith('/increment'))
            checkGrowth(contender.name, (await count()) - before, slice.answered, many)
          if (round >= 0) slices.get(contender.name)?.push(slice)
        }
      for (const [contender, taken] of slices) {
        const summed = summary(taken)
        // To be faster than who hangs would prove nothing.
        if (summed.rate.median === 0)
          throw new Error(`${contender}: ${work.name} was not answered at ${many}`)
        cells.push({ work: work.name, connections: many, contender, ...summed })
      }
      process.stdout.write(`${work.name} at ${many}\n`)
    }
  return cells
}

function checkGrowth(name: string, grown: number, answered: number, inFlight: number) {
  // At the end each connection may have a request under way, and an answer that came too late to be told of; and at the
  // beginning one that the slice before cut off may wait for the disk.
  if (grown < answered || grown > answered + 3 * inFlight)
    throw new Error(`${name} answered ${answered} increments, and the counter grew by ${grown}`)
}

function summary(slices: Slice[]) {
  const rates = slices.map(({ rate }) => rate)
  const middle = (key: keyof Slice) => median(slices.map((slice) => slice[key]))
  return {
    rate: { median: median(rates), least: Math.min(...rates), most: Math.max(...rates) },
    p50: middle('p50'),
    p99: middle('p99'),
    cpu: middle('cpu'),
    busy: middle('busy'),
    slices,
  }
}
