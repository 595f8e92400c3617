import autocannon from 'autocannon'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'

import type { Request } from './operations.ts'

export interface Load {
  origin: string
  /** At least one request. The load generator repeats the list. */
  requests: Request[]
  connections: number
  seconds: number
}

const LoadResult = z.object({
  responses: z.number(),
  /** Responses per second. */
  rate: z.number(),
  /** Response times in milliseconds. */
  p50: z.number(),
  p99: z.number(),
  failed: z.number(),
})
export type LoadResult = z.infer<typeof LoadResult>

const run = promisify(execFile)

function hasWrk() {
  try {
    execFileSync('wrk', ['--version'], { stdio: 'ignore' })
    return true
  } catch (error) {
    // `wrk --version` prints the version and exits with 1.
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT')
  }
}

export const GENERATORS = ['wrk', 'autocannon'] as const
export type Generator = (typeof GENERATORS)[number]

/** The default generator: wrk, because it uses the least CPU time. autocannon if wrk is not installed. */
export const defaultGenerator = (): Generator => (hasWrk() ? 'wrk' : 'autocannon')

export const sendLoad = (generator: Generator, load: Load): Promise<LoadResult> =>
  generator === 'wrk' ? loadByWrk(load) : loadByAutocannon(load)

/**
 * Formats a request. `wrk.format` is not used: the order of its headers differs between two runs of wrk, and for each new
 * order, Node.js compiles the code that reads headers again.
 */
function formatRequest(host: string, { method, path, body, headers }: Request) {
  const size = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const fields = Object.entries({ host, ...headers, ...size })
  const head = [`${method} ${path} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)]
  return [...head, '', body ?? ''].join('\r\n')
}

/** The result of wrk as JSON. wrk measures times in microseconds. */
const REPORT = `
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\\nresult {"responses":%d,"rate":%f,"p50":%f,"p99":%f,"failed":%d}\\n',
    summary.requests, summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end`

const script = join(mkdtempSync(join(tmpdir(), 'tallystick-wrk-')), 'load.lua')

async function loadByWrk({ origin, requests, connections, seconds }: Load) {
  const { host } = new URL(origin)
  // The escapes that `JSON.stringify` uses for these texts also exist in Lua.
  const texts = requests.map((request) => JSON.stringify(formatRequest(host, request)))
  writeFileSync(
    script,
    `local requests, index = {${texts.join(',\n')}}, 0
    function request()
      index = index % ${requests.length} + 1
      return requests[index]
    end${REPORT}`,
  )
  const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script]
  const { stdout } = await run('wrk', [...flags, origin])
  return LoadResult.parse(JSON.parse(/^result (.+)$/m.exec(stdout)?.[1] ?? 'null'))
}

async function loadByAutocannon({ origin, requests, connections, seconds }: Load) {
  const times: number[] = []
  let connection = 0
  const started = performance.now()
  let finish: (result: autocannon.Result) => void
  const completed = new Promise<autocannon.Result>((resolve) => {
    finish = resolve
  })
  const options: autocannon.Options = {
    url: origin,
    connections,
    duration: seconds,
    sampleInt: 20,
    // Each connection starts with another request.
    setupClient: (client) => {
      const first = connection++ % requests.length
      client.setRequests([...requests.slice(first), ...requests.slice(0, first)])
    },
  }
  const instance = autocannon(options, (_error, result) => {
    finish(result)
  })
  instance.on('response', (_client, _status, _bytes, duration) => {
    times.push(duration)
  })
  const { errors, timeouts, non2xx } = await completed
  const elapsed = (performance.now() - started) / 1000
  times.sort((a, b) => a - b)
  const quantile = (fraction: number) => times[Math.floor(fraction * (times.length - 1))] ?? NaN
  return LoadResult.parse({
    responses: times.length,
    rate: times.length / elapsed,
    p50: quantile(0.5),
    p99: quantile(0.99),
    failed: errors + timeouts + non2xx,
  })
}
