import { ALL, cpuRatio, type Measurement, medianOf, type Ratio } from './comparison.ts'
import { LEAN, onNode20, OURS } from './contenders.ts'
import { INCREMENT, LISTS, ONE_ACCOUNT } from './operations.ts'
import type { Resources } from './resources.ts'

export interface Target {
  measured: string
  baseline: string
  required: string
  result: string
  /** The same comparison on Node 20, for the report. It has no target. */
  onNode20: string
  /** `within the spread`: missed, but by less than the spread of the rounds of this run. */
  met: 'yes' | 'within the spread' | 'no'
}

interface Comparison {
  operation: string
  ours?: string
  theirs?: string
  connections?: number
  /** The least ratio of the CPU times per request. */
  required: number
}

const COUNTER = 'GET /api/counter'
const QUERIES = ['GET /api/tasks?limit=20', 'GET /api/tasks?status=pending', 'GET /api/notes?limit=100']

const each = (operations: string[], comparison: Omit<Comparison, 'operation'>): Comparison[] =>
  operations.map((operation) => ({ operation, ...comparison }))

/** Comparisons with the lean peer. */
const at = (connections: number, operations: string[], required: number) =>
  each(operations, { connections, required })

/** The comparisons with a target, given the names of all measured operations. */
const comparisons = (measured: string[]): Comparison[] => [
  ...at(ALL, [...LISTS, ...QUERIES], 1.5),
  ...at(8, [...LISTS, ...QUERIES], 1.15),
  ...at(1, [...LISTS, ...QUERIES], 0.85),
  ...at(ALL, [ONE_ACCOUNT], 2),
  ...each(LISTS, { theirs: 'fastify-better-auth', required: 4 }),
  ...each(LISTS, { theirs: 'hono', required: 4 }),
  ...at(ALL, [COUNTER], 2.8),
  ...at(8, [COUNTER], 1.4),
  ...at(1, [COUNTER, INCREMENT], 0.85),
  ...at(ALL, [INCREMENT], 9.3),
  ...at(256, [INCREMENT], 9.3),
  ...at(ALL, ['POST /api/tasks'], 3),
  ...at(1, ['POST /api/tasks'], 0.8),
  ...at(ALL, ['GET /api/status'], 1.2),
  ...at(ALL, ['POST /api/reservations'], 1),
  ...at(1, ['GET /api/status', 'POST /api/reservations'], 0.85),
  ...each(measured, { ours: `${OURS} over RPC`, theirs: OURS, required: 0.95 }),
  ...each(measured, { ours: `${OURS} with a bearer token`, theirs: OURS, required: 0.8 }),
  {
    operation: 'tasks_list over MCP',
    ours: `${OURS} over MCP`,
    theirs: 'official MCP SDK',
    required: 1.5,
  },
]

/** Compares the results of this run with the targets. Omits targets without results. */
export function targetsOf(measurements: Measurement[], resources?: Resources): Target[] {
  const find = (operation: string, contender: string, connections: number) =>
    measurements.find(
      (each) =>
        each.operation === operation && each.contender === contender && each.connections === connections,
    )
  const compare = (comparison: Comparison): Target[] => {
    const { operation, ours = OURS, theirs = LEAN, connections = ALL, required } = comparison
    const [left, right] = [find(operation, ours, connections), find(operation, theirs, connections)]
    if (!left || !right) return []
    const [left20, right20] = [
      find(operation, onNode20(ours), connections),
      find(operation, onNode20(theirs), connections),
    ]
    const reached = cpuRatio(left, right)
    return [
      {
        measured: `${operation} at ${connections}${ours === OURS ? '' : `, ${ours}`}`,
        baseline: theirs,
        required: `at least ${required} ×`,
        result: `${format(reached)} (${microseconds(left)}, theirs ${microseconds(right)})`,
        onNode20: left20 && right20 ? format(cpuRatio(left20, right20)) : '',
        met: verdict(reached, required),
      },
    ]
  }
  const operations = [...new Set(measurements.map(({ operation }) => operation))]
  return [...comparisons(operations).flatMap(compare), ...(resources ? resourceTargets(resources) : [])]
}

const format = ({ median, spread }: Ratio) => `${median.toFixed(2)} ± ${spread.toFixed(2)} ×`
const microseconds = (measurement: Measurement) => `${medianOf('cpu', measurement).toFixed(0)} µs`

function verdict({ median, spread }: Ratio, required: number): Target['met'] {
  if (median >= required) return 'yes'
  return median + spread >= required ? 'within the spread' : 'no'
}

const MIB = 2 ** 20

function resourceTargets({ memory, startUp }: Resources): Target[] {
  const upTo = (measured: string, baseline: string, value: number, limit: number, unit: string): Target => ({
    measured,
    baseline,
    required: `at most ${limit.toFixed(1)} ${unit}`,
    result: `${value.toFixed(2)} ${unit}`,
    onNode20: '',
    met: value <= limit ? 'yes' : 'no',
  })
  const [ours = NaN, theirs = NaN] = [OURS, LEAN].map(
    (name) => memory.find((each) => each.name === name)?.bytes,
  )
  const [ours20, theirs20] = [OURS, LEAN].map(
    (name) => memory.find((each) => each.name === onNode20(name))?.bytes,
  )
  return [
    {
      ...upTo('resident memory after one minute of load', LEAN, ours / theirs, 1.5, '×'),
      result: `${(ours / theirs).toFixed(2)} × (${(ours / MIB).toFixed(0)} MiB, theirs ${(theirs / MIB).toFixed(0)} MiB)`,
      onNode20: ours20 && theirs20 ? `${(ours20 / theirs20).toFixed(2)} ×` : '',
    },
    upTo(
      '`npm start` on an existing embedded database',
      'CPU time until the first answer',
      startUp.warm.cpu,
      1.5,
      's',
    ),
    upTo(
      '`npm start` on a new embedded database',
      'CPU time until the first answer',
      startUp.cold.cpu,
      6,
      's',
    ),
  ]
}
