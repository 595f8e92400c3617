// Loaded into every server before its program: tells what the process has used so far, when asked.

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({
    at: performance.timeOrigin + performance.now(),
    cpu: user + system,
    memory: process.memoryUsage().rss,
  })
})
