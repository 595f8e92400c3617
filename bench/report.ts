import type { checkIncrements } from './correctness.ts'
import type { Growth } from './growth/index.ts'
import type { describeMachine } from './machine.ts'
import { type Cell, ratio } from './comparison.ts'
import { targetsOf } from './targets.ts'

export interface Results {
  machine: Awaited<ReturnType<typeof describeMachine>>
  cells: Cell[]
  increments?: Awaited<ReturnType<typeof checkIncrements>>
  growth?: Growth
}

type Row = (string | number)[]

/** Columns of figures stand to the right. */
const table = (head: string[], rows: Row[]) =>
  [head, head.map((_, index) => (rows.every((row) => /^\d/.test(String(row[index]))) ? '-:' : '-')), ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')

const whole = (value: number) => Math.round(value).toLocaleString('en')
const fixed = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
const mebi = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`

/** Everything, as Markdown. */
export function report(results: Results) {
  const { machine, cells, increments, growth } = results
  const works = [...new Set(cells.map(({ work }) => work))]
  return [
    '# Results',
    'Written by `npm run bench`. Absolute figures are of this machine and this day; ratios within one run hold.',
    Object.entries(machine)
      .map(([what, value]) => `- ${what}: ${value}`)
      .join('\n'),
    '## Targets',
    targetTable(results),
    ...(cells.length > 0 ? [PREAMBLE] : []),
    ...works.flatMap((work) => [`## ${work}`, workTable(cells.filter((cell) => cell.work === work))]),
    ...(increments ? ['## Every increment', incrementLine(increments)] : []),
    ...(growth ? growthParts(growth) : []),
    '',
  ].join('\n\n')
}

const PREAMBLE = [
  'In each table: requests a second (the median of short slices taken in turn, the least and the most); how many times',
  'those the service over REST answers, and how many times its CPU a request they take; latency; CPU of the server a',
  'request; and how much of its core the server used. Where that is well below 1, something else was the limit: the',
  'database, or the load generator. Ratios are medians of what the rounds came to, in each of which all have a slice:',
  'what slows the machine for some seconds leaves them as they are. `raw` is node:http with postgres.js and nothing in',
  'between; `fastify` has TypeBox, `pg` and a session query by hand; `fastify-better-auth` and `hono` have better-auth and',
  'drizzle.',
].join('\n')

const targetTable = (results: Results) =>
  table(
    ['Work', 'Against', 'Wanted', 'Reached', 'Met'],
    targetsOf(results).map(({ work, against, wanted, reached, met }) => [
      work,
      against,
      wanted,
      reached,
      met ? 'yes' : '**no**',
    ]),
  )

const workTable = (cells: Cell[]) =>
  table(
    ['At', 'Server', 'Requests/s', 'Least – most', 'Ours is', 'p50 ms', 'p99 ms', 'CPU µs', 'CPU is', 'Busy'],
    cells.map((cell) => {
      const { connections, contender, rate, p50, p99, cpu, busy } = cell
      const ours =
        cells.find((one) => one.contender === 'tallystick' && one.connections === connections) ?? cell
      return [
        connections,
        contender,
        whole(rate.median),
        `${whole(rate.least)} – ${whole(rate.most)}`,
        `${ratio('rate', ours, cell).toFixed(2)} ×`,
        fixed(p50),
        fixed(p99),
        fixed(cpu),
        `${ratio('cpu', cell, ours).toFixed(2)} ×`,
        busy.toFixed(2),
      ]
    }),
  )

const incrementLine = ({ total, distinct, grown, durable }: NonNullable<Results['increments']>) =>
  `${whole(total)} increments over 64 connections: ${whole(distinct)} values, the counter grew by ${whole(grown)}, and` +
  ` no value was answered before another connection could see it committed${durable ? ', on a database that syncs' : ' (on a database that does not sync)'}.` +
  ' In every slice above, the counter grew by what was answered, and what was cut off.'

function growthParts({ rows, people, memory, plans, startUp, bundle }: Growth) {
  const sizes = (list: Growth['rows']) =>
    table(
      ['Call, one at a time', 'People', 'Rows each', 'ms', 'Server CPU ms', 'Bytes'],
      list.map(({ work, people, rows, took, cpu, bytes }) => [
        work,
        whole(people),
        whole(rows),
        fixed(took),
        fixed(cpu),
        whole(bytes),
      ]),
    )
  const scans = plans.filter(({ scanned }) => scanned.length > 0)
  return [
    '## Growth',
    sizes(rows),
    sizes(people),
    `Every query of ${plans.length} calls, among 100,000 people, by the plans that PostgreSQL chose: ` +
      (scans.length === 0
        ? 'none reads users, sessions, tasks, notes or shares from end to end.'
        : scans.map(({ call, scanned }) => `**${call} reads all of ${scanned.join(', ')}**`).join('; ')),
    '## Memory',
    'Event streams are answered at once and end, so what stays open are connections: each was answered one event.',
    table(
      ['Connections open', 'Resident'],
      memory.map(({ connections, memory }) => [whole(connections), mebi(memory)]),
    ),
    '## Start-up',
    'Until the first answer, with the embedded database, on any core.',
    table(
      ['', 'Seconds', 'CPU seconds', 'Resident'],
      Object.entries(startUp).map(([folder, { seconds, cpu, memory }]) => [
        folder === 'cold' ? 'cold: a new folder' : 'warm: the folder of an earlier run',
        fixed(seconds),
        fixed(cpu),
        mebi(memory),
      ]),
    ),
    '## Browser client',
    `\`createClient\` alone: ${whole(bundle.minified)} bytes minified, ${whole(bundle.gzip)} gzip.`,
  ]
}
