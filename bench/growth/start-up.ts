import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'

import { median } from '../measure.ts'
import { startOurs } from '../servers.ts'

/** `npm start`, as far as the first answer: in a new folder, and in one that a stop has left. */
export async function measureStartUp(times: number) {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-bench-'))
  try {
    const cold = await startIn(folder)
    const warm = []
    for (let time = 0; time < times; time++) warm.push(await startIn(folder))
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

/** Seconds, and seconds of CPU (user and system), until it answers. */
async function startIn(folder: string) {
  const from = performance.now()
  const server = await startOurs({ DATA_DIR: folder, NODE_ENV: 'development' }, `0-${cpus().length - 1}`)
  const seconds = (performance.now() - from) / 1000
  const { cpu, memory } = await server.usage()
  await server.stop('SIGTERM')
  return { seconds, cpu: cpu / 1e6, memory }
}
