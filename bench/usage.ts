// The benchmarks preload this module into every server process. The process answers each message of the benchmark with
// its CPU time and its memory.

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({
    at: performance.timeOrigin + performance.now(),
    cpu: user + system,
    memory: process.memoryUsage().rss,
  })
})
