import { cpus } from 'node:os'

import type { describeMachine } from '../machine/machine.ts'
import { fixed, mebibytes, properties, table, whole } from '../table.ts'
import type { Growth } from './growth.ts'

type Machine = Awaited<ReturnType<typeof describeMachine>>

export function reportGrowth(machine: Machine, { rows, people, memory, plans, workers, bundle }: Growth) {
  const scans = plans.filter(({ scanned }) => scanned.length > 0)
  return [
    '# Growth',
    'Written by `npm run bench:growth`.',
    properties(machine),
    '## Rows and people',
    sizes(rows),
    sizes(people),
    `Sequential scans of ${plans.length} calls with 100,000 people, from the statistics of PostgreSQL: ` +
      (scans.length === 0
        ? 'none of users, sessions, tasks, notes or shares.'
        : scans.map(({ call, scanned }) => `**${call} scans ${scanned.join(', ')}**`).join('; ')),
    '## Workers',
    `Over 64 connections. The processes share ${cpus().length} cores with PostgreSQL and the load generator.`,
    table(
      ['Operation', 'WORKERS', 'Requests/s', 'p99 ms'],
      workers.map(({ operation, workers, rate, p99 }) => [
        operation,
        whole(workers),
        whole(rate),
        fixed(p99),
      ]),
    ),
    '## Memory',
    'Each open connection has received one event. The event stream of the counter ends after its first event.',
    table(
      ['Open connections', 'Resident'],
      memory.map(({ connections, memory }) => [whole(connections), mebibytes(memory)]),
    ),
    '## Browser client',
    `\`createClient\` alone: ${whole(bundle.minified)} bytes minified, ${whole(bundle.gzip)} gzip (target: under 9,500).`,
    '',
  ].join('\n\n')
}

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
