import { type Measurement, ratio } from './comparison.ts'
import type { checkIncrements } from './correctness.ts'
import type { Growth } from './growth/index.ts'
import type { describeMachine } from './machine.ts'
import { targetsOf } from './targets.ts'

export interface Results {
  machine: Awaited<ReturnType<typeof describeMachine>>
  measurements: Measurement[]
  increments?: Awaited<ReturnType<typeof checkIncrements>>
  growth?: Growth
}

type Row = (string | number)[]

/** Formats a table in Markdown. Columns of numbers are aligned to the right. */
const table = (head: string[], rows: Row[]) =>
  [head, head.map((_, index) => (rows.every((row) => /^\d/.test(String(row[index]))) ? '-:' : '-')), ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')

const whole = (value: number) => Math.round(value).toLocaleString('en')
const fixed = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`

export function report(results: Results) {
  const { machine, measurements, increments, growth } = results
  const operations = [...new Set(measurements.map(({ operation }) => operation))]
  return [
    '# Results',
    'Written by `npm run bench`. Absolute figures hold for this machine and day; ratios within one run are comparable.',
    Object.entries(machine)
      .map(([name, value]) => `- ${name}: ${value}`)
      .join('\n'),
    '## Targets',
    targetTable(results),
    ...(measurements.length > 0 ? [PREAMBLE] : []),
    ...operations.flatMap((operation) => [
      `## ${operation}`,
      operationTable(measurements.filter((measurement) => measurement.operation === operation)),
    ]),
    ...(increments ? ['## No lost increments', incrementLine(increments)] : []),
    ...(growth ? growthParts(growth) : []),
    '',
  ].join('\n\n')
}

const PREAMBLE = [
  'Columns of each table: number of connections; requests per second (median, minimum and maximum of short slices in',
  'rotation); ratio of the requests per second of Tallystick over REST to those of the server; latency; CPU time of the',
  'server for each request; ratio of this CPU time to that of Tallystick over REST; share of its core that the server',
  'used. If this share is well below 1, the database or the load generator was the bottleneck. Each ratio is the median of',
  'the ratios of the rounds. In a round every server has one slice, so a temporary slowdown of the machine does not change',
  'the ratio. `raw` is node:http with postgres.js, without a framework; `fastify` uses TypeBox, `pg` and a hand-written',
  'session query; `fastify-better-auth` and `hono` use better-auth and Drizzle.',
].join('\n')

const targetTable = (results: Results) =>
  table(
    ['Operation', 'Compared with', 'Target', 'Result', 'Met'],
    targetsOf(results).map(({ measured, baseline, required, result, met }) => [
      measured,
      baseline,
      required,
      result,
      met ? 'yes' : '**no**',
    ]),
  )

const operationTable = (measurements: Measurement[]) =>
  table(
    [
      'At',
      'Server',
      'Requests/s',
      'Min – max',
      'Ratio',
      'p50 ms',
      'p99 ms',
      'CPU µs',
      'CPU ratio',
      'CPU use',
    ],
    measurements.map((measurement) => {
      const { connections, contender, rate, p50, p99, cpu, busy } = measurement
      const ours =
        measurements.find((one) => one.contender === 'tallystick' && one.connections === connections) ??
        measurement
      return [
        connections,
        contender,
        whole(rate.median),
        `${whole(rate.min)} – ${whole(rate.max)}`,
        `${ratio('rate', ours, measurement).toFixed(2)} ×`,
        fixed(p50),
        fixed(p99),
        fixed(cpu),
        `${ratio('cpu', measurement, ours).toFixed(2)} ×`,
        busy.toFixed(2),
      ]
    }),
  )

const incrementLine = ({ total, distinct, growth, durable }: NonNullable<Results['increments']>) =>
  `${whole(total)} increments over 64 connections: ${whole(distinct)} distinct values, the counter grew by ${whole(growth)}, and` +
  ` every value was committed before its response${durable ? ', with fsync on' : ' (with fsync or synchronous_commit off)'}.` +
  ' In every slice above, the counter grew by the number of responses, plus interrupted requests.'

function growthParts({ rows, people, memory, plans, startUp, bundle }: Growth) {
  const sizes = (list: Growth['rows']) =>
    table(
      ['Sequential call', 'People', 'Rows each', 'ms', 'Server CPU ms', 'Bytes'],
      list.map(({ operation, people, rows, duration, cpu, bytes }) => [
        operation,
        whole(people),
        whole(rows),
        fixed(duration),
        fixed(cpu),
        whole(bytes),
      ]),
    )
  const scans = plans.filter(({ scanned }) => scanned.length > 0)
  return [
    '## Growth',
    sizes(rows),
    sizes(people),
    `Sequential scans of ${plans.length} calls with 100,000 people, from the statistics of PostgreSQL: ` +
      (scans.length === 0
        ? 'none of users, sessions, tasks, notes or shares.'
        : scans.map(({ call, scanned }) => `**${call} scans ${scanned.join(', ')}**`).join('; ')),
    '## Memory',
    'Each open connection has received one event. The event stream of the counter ends after its first event.',
    table(
      ['Open connections', 'Resident'],
      memory.map(({ connections, memory }) => [whole(connections), mebibytes(memory)]),
    ),
    '## Start-up',
    'Until the first response, with the embedded database, without CPU pinning.',
    table(
      ['', 'Seconds', 'CPU seconds', 'Resident'],
      Object.entries(startUp).map(([folder, { seconds, cpu, memory }]) => [
        folder === 'cold' ? 'cold: a new folder' : 'warm: the folder of an earlier run',
        fixed(seconds),
        fixed(cpu),
        mebibytes(memory),
      ]),
    ),
    '## Browser client',
    `\`createClient\` alone: ${whole(bundle.minified)} bytes minified, ${whole(bundle.gzip)} gzip.`,
  ]
}
