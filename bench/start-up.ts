import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'

import { median } from './measure.ts'
import { startTallystick } from './servers.ts'

/**
 * Measures the time from the start of the process to the first response, in a new data folder and in an existing data
 * folder.
 */
export async function measureStartUp(node: string, times: number) {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-bench-'))
  try {
    const cold = await startIn(node, folder)
    const warm = []
    for (let time = 0; time < times; time++) warm.push(await startIn(node, folder))
    return {
      cold,
      warm: {
        seconds: median(warm.map(({ seconds }) => seconds)),
        cpu: median(warm.map(({ cpu }) => cpu)),
        memory: median(warm.map(({ memory }) => memory)),
      },
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Returns the elapsed time and the CPU time (user and system) until the first response, in seconds. Also returns the
 * memory in bytes.
 */
async function startIn(node: string, folder: string) {
  const start = performance.now()
  const server = await startTallystick(
    node,
    { DATA_DIR: folder, NODE_ENV: 'development' },
    `0-${cpus().length - 1}`,
  )
  const seconds = (performance.now() - start) / 1000
  const { cpu, memory } = await server.usage()
  await server.stop('SIGTERM')
  return { seconds, cpu: cpu / 1e6, memory }
}
