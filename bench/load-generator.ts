import autocannon from 'autocannon'
import { z } from 'zod'

const Shot = z.object({
  url: z.string(),
  method: z.enum(['GET', 'POST']),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  cookies: z.array(z.string()),
  connections: z.number(),
})
/** What to fire; each connection sends one of the cookies. */
export type Shot = z.infer<typeof Shot>

const Stop = z.object({ from: z.number(), to: z.number() })

export const Shots = z.object({
  /** In the window asked for. */
  requests: z.number(),
  /** In ms; without end if there was none. */
  p50: z.number().or(z.literal(Infinity)),
  p99: z.number().or(z.literal(Infinity)),
  /** From the first request to the last. */
  answered: z.number(),
  failed: z.number(),
})
export type Shots = z.infer<typeof Shots>

const now = () => performance.timeOrigin + performance.now()

function fire({ cookies, ...shot }: Shot) {
  const answers: { at: number; took: number }[] = []
  let connection = 0
  let finish: (result: autocannon.Result) => void
  const ended = new Promise<autocannon.Result>((resolve) => {
    finish = resolve
  })
  const instance = autocannon(
    {
      ...shot,
      duration: 600,
      sampleInt: 20,
      setupClient: (client) => {
        const cookie = cookies[connection++ % cookies.length]
        if (cookie) client.setHeaders({ ...shot.headers, cookie })
      },
    },
    (_error, result) => {
      finish(result)
    },
  )
  instance.on('response', (_client, _status, _bytes, took) => {
    answers.push({ at: now(), took })
  })

  return async ({ from, to }: z.infer<typeof Stop>): Promise<Shots> => {
    instance.stop()
    const { errors, timeouts, non2xx } = await ended
    const times = answers.filter(({ at }) => at >= from && at <= to).map(({ took }) => took)
    times.sort((a, b) => a - b)
    const quantile = (part: number) => times[Math.floor(part * (times.length - 1))] ?? Infinity
    return {
      requests: times.length,
      p50: quantile(0.5),
      p99: quantile(0.99),
      answered: answers.length,
      failed: errors + timeouts + non2xx,
    }
  }
}

let stop: ReturnType<typeof fire> | undefined

process.on('message', (message) => {
  if (stop) {
    void stop(Stop.parse(message)).then((shots) => process.send?.(shots))
    stop = undefined
  } else stop = fire(Shot.parse(message))
})
