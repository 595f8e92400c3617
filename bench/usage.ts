import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// The benchmarks preload this module into every server process. The process answers each message of the benchmark with
// its CPU time and its memory. The message `collect` causes a garbage collection before the answer.

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

process.on('message', (message) => {
  if (message === 'collect') collectGarbage()
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed, external } = process.memoryUsage()
  process.send?.({
    at: performance.timeOrigin + performance.now(),
    cpu: user + system,
    memory: rss,
    heap: heapUsed + external,
  })
})
