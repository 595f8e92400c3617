import type { Growth } from './growth/index.ts'
import { type Cell, ratio } from './comparison.ts'

export interface Target {
  work: string
  against: string
  wanted: string
  reached: string
  met: boolean
}

const SERVICE = 'tallystick'
const BY_HAND = 'fastify'

/** Where a server was less busy than this, the load generator may have been the limit. */
const SATURATED = 0.95

/** What the issue asks for, and what this run came to; what was not measured is left out. */
export function targetsOf({ cells, growth }: { cells: Cell[]; growth?: Growth }): Target[] {
  const at = (work: string, contender: string, connections = 64) =>
    cells.find(
      (cell) => cell.work === work && cell.contender === contender && cell.connections === connections,
    )
  const rate = (work: string, peer: string, wanted: number, connections = 64) => {
    const [ours, theirs] = [at(work, SERVICE, connections), at(work, peer, connections)]
    return ours && theirs ? [rateTarget(ours, theirs, wanted)] : []
  }
  const latency = (key: 'p50' | 'p99', connections: number) =>
    [...new Set(cells.map(({ work }) => work))].flatMap((work) => {
      const [ours, theirs] = [at(work, SERVICE, connections), at(work, BY_HAND, connections)]
      return ours && theirs ? [latencyTarget(ours, theirs, key)] : []
    })
  return [
    ...rate('GET /api/tasks', 'fastify-better-auth', 6),
    ...rate('GET /api/tasks', BY_HAND, 1.5),
    ...rate('GET /api/notes', BY_HAND, 1.5),
    ...rate('POST /api/tasks', BY_HAND, 1.2),
    ...rate('GET /api/counter', BY_HAND, 2),
    ...rate('POST /api/counter/increment', BY_HAND, 6),
    ...rate('POST /api/counter/increment', BY_HAND, 6, 256),
    ...rate('GET /api/status', BY_HAND, 0.95),
    ...rate('GET /api/status', 'raw', 0.75),
    ...rate('POST /api/reservations', BY_HAND, 1),
    ...latency('p99', 64),
    ...latency('p50', 1),
    ...(growth ? growthTargets(growth) : []),
  ]
}

function rateTarget(ours: Cell, theirs: Cell, wanted: number): Target {
  const byRate = ratio('rate', ours, theirs)
  const byCpu = ratio('cpu', theirs, ours)
  // Without a database, the faster of two may be held back by the load generator alone: then what counts is CPU.
  const held = ours.work === 'GET /api/status' && Math.min(ours.busy, theirs.busy) < SATURATED
  const reached = held ? byCpu : byRate
  return {
    work: `${ours.work} at ${ours.connections}`,
    against: theirs.contender,
    wanted: `${wanted} ×`,
    reached: `${byRate.toFixed(2)} × (by CPU ${byCpu.toFixed(2)} ×${held ? ', which counts here' : ''})`,
    met: reached >= wanted,
  }
}

function latencyTarget(ours: Cell, theirs: Cell, key: 'p50' | 'p99'): Target {
  const reached = ratio(key, ours, theirs)
  return {
    work: `${ours.work} at ${ours.connections}: ${key}`,
    against: theirs.contender,
    wanted: 'at most 1 ×',
    reached: `${reached.toFixed(2)} × (${ours[key].toFixed(2)} ms, theirs ${theirs[key].toFixed(2)})`,
    met: reached <= 1,
  }
}

const growthTargets = ({ bundle, startUp }: Growth): Target[] => [
  {
    work: 'browser bundle of `createClient`, gzip',
    against: 'bytes',
    wanted: 'under 9,000',
    reached: bundle.gzip.toLocaleString('en'),
    met: bundle.gzip < 9000,
  },
  {
    work: 'schemas of the contract in it',
    against: 'words of theirs',
    wanted: 'none',
    reached: bundle.schemas.join(', ') || 'none',
    met: bundle.schemas.length === 0,
  },
  {
    work: '`npm start` on an embedded folder, warm',
    against: 'CPU until it answers',
    wanted: 'under 1.5 s',
    reached: `${startUp.warm.cpu.toFixed(2)} s`,
    met: startUp.warm.cpu < 1.5,
  },
]
