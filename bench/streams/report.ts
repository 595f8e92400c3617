import type { describeMachine } from '../machine/machine.ts'
import { properties, table, whole } from '../table.ts'
import type { Deliveries } from './deliveries.ts'
import type { Writes } from './writes.ts'

interface Results {
  machine: Awaited<ReturnType<typeof describeMachine>> & Record<string, string>
  deliveries: Record<'some' | 'peer' | 'many' | 'people', Deliveries>
  writes: Writes
}

interface Target {
  measured: string
  required: string
  result: string
  met: boolean
}

const atMost = (measured: string, limit: number, unit: string, value: number): Target => ({
  measured,
  required: `at most ${limit} ${unit}`,
  result: `${value.toFixed(1)} ${unit}`,
  met: value <= limit,
})

const targetsOf = ({ deliveries: { many, people }, writes }: Results): Target[] => [
  atMost(`${many.name}: memory per stream`, 15, 'KiB', many.memory),
  atMost(`${many.name}: CPU per delivery`, 20, 'µs', many.cpu),
  atMost(`${many.name}: 99th percentile`, 250, 'ms', many.p99),
  atMost(`${people.name}: 99th percentile`, 250, 'ms', people.p99),
  ...writes.map(({ name, ratio }) => ({
    measured: `${name}: throughput with streams`,
    required: 'at least 0.9 of the throughput without streams',
    result: ratio.toFixed(2),
    met: ratio >= 0.9,
  })),
]

export const isMet = (results: Results) => targetsOf(results).every(({ met }) => met)

export function report(results: Results) {
  const { machine, deliveries, writes } = results
  return [
    '# Streams',
    'Written by `npm run bench:streams`. Absolute figures hold for this machine and day.',
    properties(machine),
    '## Targets',
    table(
      ['Measured', 'Target', 'Result', 'Met'],
      targetsOf(results).map(({ measured, required, result, met }) => [
        measured,
        required,
        result,
        met ? 'yes' : '**no**',
      ]),
    ),
    '## Deliveries',
    DELIVERIES,
    table(
      [
        'Streams',
        'Changes/s',
        'Delivered',
        'p50 ms',
        'p99 ms',
        'Maximum ms',
        'CPU µs',
        'Busy',
        'KiB per stream',
        'KiB of objects',
      ],
      Object.values(deliveries).map(({ name, rate, share, p50, p99, max, cpu, busy, memory, heap }) => [
        name,
        rate,
        `${(100 * share).toFixed(1)} %`,
        whole(p50),
        whole(p99),
        whole(max),
        cpu.toFixed(1),
        busy.toFixed(2),
        memory.toFixed(1),
        heap.toFixed(1),
      ]),
    ),
    '## Writes',
    WRITES,
    table(
      ['Request', 'Streams', 'Requests/s with streams', 'Requests/s without streams', 'Ratio'],
      writes.map(({ name, streams, watched, plain, ratio }) => [
        name,
        streams,
        whole(watched),
        whole(plain),
        ratio.toFixed(2),
      ]),
    ),
    '',
  ].join('\n\n')
}

const DELIVERIES = [
  'The latency is the time from the request for a change to the delivery, so it includes the write. If a state is not',
  'delivered, the reader was slow and received a later state. The CPU time per delivery is the CPU time of the server',
  'divided by the number of deliveries. It includes the requests for the changes; in the row of tasks also the read of each',
  'list and the verification of each session. Memory is resident memory after a garbage collection; the last column',
  'counts only objects. A negative value means that the process released memory of an earlier measurement.',
  'The peer reads no database: the state comes in the Redis message.',
].join('\n')

const WRITES = [
  'One service receives requests over 64 connections in slices of 1 s, alternately with and without open streams. The streams',
  'watch the counter, or 50 tasks of each person who writes. Before each slice, each person has 500 tasks. The ratio is the',
  'median of the ratios of the rounds.',
].join('\n')
