import { type Measurement, ratio } from './comparison.ts'
import type { Growth } from './growth/index.ts'

export interface Target {
  measured: string
  baseline: string
  required: string
  result: string
  met: boolean
}

const SERVICE = 'tallystick'
const HAND_WRITTEN = 'fastify'

/** If a server used less than this share of a CPU core, the load generator may have been the bottleneck. */
const SATURATED = 0.95

/** Compares the results of this run with the targets. Omits the targets of operations that were not measured. */
export function targetsOf({
  measurements,
  growth,
}: {
  measurements: Measurement[]
  growth?: Growth
}): Target[] {
  const at = (operation: string, contender: string, connections = 64) =>
    measurements.find(
      (measurement) =>
        measurement.operation === operation &&
        measurement.contender === contender &&
        measurement.connections === connections,
    )
  const rate = (operation: string, peer: string, required: number, connections = 64) => {
    const [ours, theirs] = [at(operation, SERVICE, connections), at(operation, peer, connections)]
    return ours && theirs ? [rateTarget(ours, theirs, required)] : []
  }
  const latency = (key: 'p50' | 'p99', connections: number) =>
    [...new Set(measurements.map(({ operation }) => operation))].flatMap((operation) => {
      const [ours, theirs] = [at(operation, SERVICE, connections), at(operation, HAND_WRITTEN, connections)]
      return ours && theirs ? [latencyTarget(ours, theirs, key)] : []
    })
  return [
    ...rate('GET /api/tasks', 'fastify-better-auth', 6),
    ...rate('GET /api/tasks', HAND_WRITTEN, 1.5),
    ...rate('GET /api/notes', HAND_WRITTEN, 1.5),
    ...rate('POST /api/tasks', HAND_WRITTEN, 1.2),
    ...rate('GET /api/counter', HAND_WRITTEN, 2),
    ...rate('POST /api/counter/increment', HAND_WRITTEN, 6),
    ...rate('POST /api/counter/increment', HAND_WRITTEN, 6, 256),
    ...rate('GET /api/status', HAND_WRITTEN, 0.95),
    ...rate('GET /api/status', 'raw', 0.75),
    ...rate('POST /api/reservations', HAND_WRITTEN, 1),
    ...latency('p99', 64),
    ...latency('p50', 1),
    ...(growth ? growthTargets(growth) : []),
  ]
}

function rateTarget(ours: Measurement, theirs: Measurement, required: number): Target {
  const byRate = ratio('rate', ours, theirs)
  const byCpu = ratio('cpu', theirs, ours)
  // The load generator can be the bottleneck of GET /api/status, because this operation costs the server little CPU
  // time. In this case, the target applies to the ratio of CPU times instead of the ratio of rates.
  const isGeneratorLimited =
    ours.operation === 'GET /api/status' && Math.min(ours.busy, theirs.busy) < SATURATED
  const reached = isGeneratorLimited ? byCpu : byRate
  return {
    measured: `${ours.operation} at ${ours.connections}`,
    baseline: theirs.contender,
    required: `${required} ×`,
    result: `${byRate.toFixed(2)} × (by CPU ${byCpu.toFixed(2)} ×${isGeneratorLimited ? ', which is decisive here' : ''})`,
    met: reached >= required,
  }
}

function latencyTarget(ours: Measurement, theirs: Measurement, key: 'p50' | 'p99'): Target {
  const reached = ratio(key, ours, theirs)
  return {
    measured: `${ours.operation} at ${ours.connections}: ${key}`,
    baseline: theirs.contender,
    required: 'at most 1 ×',
    result: `${reached.toFixed(2)} × (${ours[key].toFixed(2)} ms, theirs ${theirs[key].toFixed(2)})`,
    met: reached <= 1,
  }
}

const growthTargets = ({ bundle, startUp }: Growth): Target[] => [
  {
    measured: 'browser bundle of `createClient`, gzip',
    baseline: 'bytes',
    required: 'under 9,000',
    result: bundle.gzip.toLocaleString('en'),
    met: bundle.gzip < 9000,
  },
  {
    measured: 'contract schemas in the bundle',
    baseline: 'words of schemas',
    required: 'none',
    result: bundle.schemas.join(', ') || 'none',
    met: bundle.schemas.length === 0,
  },
  {
    measured: '`npm start` on an embedded folder, warm',
    baseline: 'CPU time until the first response',
    required: 'under 1.5 s',
    result: `${startUp.warm.cpu.toFixed(2)} s`,
    met: startUp.warm.cpu < 1.5,
  },
]
