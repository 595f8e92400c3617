import { cpuRatio, type Measurement, medianOf, ratio } from './comparison.ts'
import { OURS } from './contenders.ts'
import type { checkIncrements } from './correctness.ts'
import type { describeMachine } from './machine/machine.ts'
import type { Resources } from './resources.ts'
import { fixed, mebibytes, properties, table, whole } from './table.ts'
import type { Target } from './targets.ts'

export interface Results {
  machine: Awaited<ReturnType<typeof describeMachine>>
  measurements: Measurement[]
  targets: Target[]
  increments?: Awaited<ReturnType<typeof checkIncrements>> | undefined
  resources?: Resources | undefined
}

export function report({ machine, measurements, targets, increments, resources }: Results) {
  const operations = [...new Set(measurements.map(({ operation }) => operation))]
  return [
    '# Results',
    'Written by `npm run bench`. Absolute figures hold for this machine and day; ratios within one run are comparable.',
    properties(machine),
    '## Targets',
    targetTable(targets),
    PREAMBLE,
    ...operations.flatMap((operation) => [
      `## ${operation}`,
      operationTable(measurements.filter((measurement) => measurement.operation === operation)),
    ]),
    ...(increments ? ['## No lost increments', incrementLine(increments)] : []),
    ...(resources ? resourceParts(resources) : []),
    '',
  ].join('\n\n')
}

const PREAMBLE = [
  'The targets compare CPU times per request, of the server and the processes of PostgreSQL together. Each ratio is the',
  'median of the ratios of the rounds, ± half of the distance between their quartiles. In a round every server has a new',
  'process and one slice, so a temporary slowdown of the machine does not change the ratio. _Within the spread_: the target',
  'is missed by less than this spread.',
  '',
  'Columns of the tables below: number of connections; CPU time per request; how much less CPU time Tallystick over REST',
  'needs; requests per second (median, minimum and maximum of the slices), and their ratio; latency; share of its core',
  'that the server used. If this share is well below 1, the database or the load generator was the bottleneck.',
  '[docs/performance.md](../docs/performance.md#method) describes the servers.',
].join('\n')

const targetTable = (targets: Target[]) =>
  table(
    ['Operation', 'Compared with', 'Target', 'Result', 'On Node 20', 'Met'],
    targets.map(({ measured, baseline, required, result, onNode20, met }) => [
      ...[measured, baseline, required, result, onNode20],
      met === 'no' ? '**no**' : met,
    ]),
  )

const operationTable = (measurements: Measurement[]) =>
  table(
    [
      'At',
      'Server',
      'CPU µs',
      'CPU ratio',
      'Requests/s',
      'Min – max',
      'Ratio',
      'p50 ms',
      'p99 ms',
      'CPU use',
    ],
    measurements.map((measurement) => {
      const { connections, contender, slices } = measurement
      const ours = measurements.find((one) => one.contender === OURS && one.connections === connections)
      const rates = slices.map(({ rate }) => rate)
      return [
        connections,
        contender,
        fixed(medianOf('cpu', measurement)),
        ours ? `${cpuRatio(ours, measurement).median.toFixed(2)} ×` : '',
        whole(medianOf('rate', measurement)),
        `${whole(Math.min(...rates))} – ${whole(Math.max(...rates))}`,
        ours ? `${ratio('rate', ours, measurement).median.toFixed(2)} ×` : '',
        fixed(medianOf('p50', measurement)),
        fixed(medianOf('p99', measurement)),
        medianOf('busy', measurement).toFixed(2),
      ]
    }),
  )

const incrementLine = ({ total, distinct, growth, durable }: NonNullable<Results['increments']>) =>
  `${whole(total)} increments over 64 connections: ${whole(distinct)} distinct values, the counter grew by ${whole(growth)}, and` +
  ` every value was committed before its response${durable ? ', with fsync on' : ' (with fsync or synchronous_commit off)'}.` +
  ' In every slice above, the counter grew by the number of responses, plus requests in progress at its start or end.'

const resourceParts = ({ memory, startUp }: Resources) => [
  '## Memory',
  'After one minute of `GET /api/tasks` on 64 connections.',
  table(
    ['Server', 'Resident'],
    memory.map(({ name, bytes }) => [name, mebibytes(bytes)]),
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
]
