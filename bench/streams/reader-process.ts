import { connect, type Socket } from 'node:net'
import { z } from 'zod'

import { quantile } from '../../test/trials/http-client.ts'

// Reads many streams in one process. The states contain the time of the change, in milliseconds since the Unix epoch.

const Command = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('open'),
    origin: z.string(),
    topic: z.string(),
    /** One cookie for each stream, empty if the stream needs no session. */
    cookies: z.array(z.string()),
    /** The text before the time in a state. */
    marker: z.string(),
  }),
  /** Forgets the deliveries so far. */
  z.object({ do: z.literal('reset') }),
  z.object({ do: z.literal('report') }),
  z.object({ do: z.literal('close') }),
])
export type Command = z.infer<typeof Command>

const Latency = z.number().or(z.nan())
export const ReaderReport = z.object({
  open: z.number(),
  deliveries: z.number(),
  /** Time from the change to the delivery, in milliseconds; NaN without deliveries. */
  p50: Latency,
  p99: Latency,
  max: Latency,
})
export type ReaderReport = z.infer<typeof ReaderReport>

const CONCURRENCY = 100
/** Number of tasks in a state. */
const PAGE = 50

let sockets: Socket[] = []
let latencies: number[] = []
const now = () => performance.timeOrigin + performance.now()

/** All sockets share one buffer, because each chunk is processed before the next read. */
const buffer = Buffer.alloc(65_536)

let addresses = 0
/** Each stream has an address of its own, because the service limits the streams of one address. */
const newAddress = () => {
  const index = ++addresses
  return `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`
}

function openStream({ origin, topic, marker }: Extract<Command, { do: 'open' }>, cookie: string) {
  const { hostname, port, host } = new URL(origin)
  return new Promise<void>((resolve, reject) => {
    let [isAnswered, isOpen] = [false, false]
    const receive = (size: number) => {
      const text = buffer.toString('latin1', 0, size)
      if (!isAnswered && !text.startsWith('HTTP/1.1 200')) reject(new Error(text))
      isAnswered = true
      for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + 1))
        latencies.push(now() - parseInt(text.slice(at + marker.length), 10))
      if (!isOpen && text.includes('data: ')) {
        isOpen = true
        sockets.push(socket)
        resolve()
      }
      return true
    }
    const socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback: receive } })
    socket.on('error', reject)
    socket.on('close', () => {
      sockets = sockets.filter((each) => each !== socket)
    })
    const body = JSON.stringify({ json: { topics: [topic], tasks: { limit: PAGE } } })
    const headers = [
      `host: ${host}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      `x-forwarded-for: ${newAddress()}`,
    ]
    if (cookie) headers.push(`cookie: ${cookie}`)
    socket.write(`POST /rpc/live/watch HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
  })
}

async function execute(command: Command) {
  switch (command.do) {
    case 'open': {
      const remaining = [...command.cookies]
      const openAll = async () => {
        for (let cookie = remaining.pop(); cookie !== undefined; cookie = remaining.pop())
          await openStream(command, cookie)
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, openAll))
      break
    }
    case 'reset':
      latencies = []
      break
    case 'close':
      for (const socket of sockets) socket.destroy()
      break
    case 'report':
  }
  const report: ReaderReport = {
    open: sockets.length,
    deliveries: latencies.length,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    max: quantile(latencies, 1),
  }
  process.send?.(report)
}

process.on('message', (message) => void execute(Command.parse(message)))
