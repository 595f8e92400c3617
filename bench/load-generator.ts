import autocannon from 'autocannon'
import { z } from 'zod'

const LoadOptions = z.object({
  url: z.string(),
  method: z.enum(['GET', 'POST']),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  cookies: z.array(z.string()),
  connections: z.number(),
})
/** The request to repeat. Each connection uses one of the cookies. */
export type LoadOptions = z.infer<typeof LoadOptions>

/** The time range of the measurement, in milliseconds since the Unix epoch. */
const Window = z.object({ from: z.number(), to: z.number() })

export const LoadResult = z.object({
  /** Number of responses within the window. */
  requests: z.number(),
  /** Response times within the window, in milliseconds; `Infinity` if there are no responses. */
  p50: z.number().or(z.literal(Infinity)),
  p99: z.number().or(z.literal(Infinity)),
  /** Number of all responses, including responses outside the window. */
  responses: z.number(),
  failed: z.number(),
})
export type LoadResult = z.infer<typeof LoadResult>

const now = () => performance.timeOrigin + performance.now()

function startLoad({ cookies, ...request }: LoadOptions) {
  const responses: { at: number; duration: number }[] = []
  let connection = 0
  let finish: (result: autocannon.Result) => void
  const completed = new Promise<autocannon.Result>((resolve) => {
    finish = resolve
  })
  const instance = autocannon(
    {
      ...request,
      duration: 600,
      sampleInt: 20,
      setupClient: (client) => {
        const cookie = cookies[connection++ % cookies.length]
        if (cookie) client.setHeaders({ ...request.headers, cookie })
      },
    },
    (_error, result) => {
      finish(result)
    },
  )
  instance.on('response', (_client, _status, _bytes, duration) => {
    responses.push({ at: now(), duration })
  })

  return async ({ from, to }: z.infer<typeof Window>): Promise<LoadResult> => {
    instance.stop()
    const { errors, timeouts, non2xx } = await completed
    const times = responses.filter(({ at }) => at >= from && at <= to).map(({ duration }) => duration)
    times.sort((a, b) => a - b)
    const quantile = (fraction: number) => times[Math.floor(fraction * (times.length - 1))] ?? Infinity
    return {
      requests: times.length,
      p50: quantile(0.5),
      p99: quantile(0.99),
      responses: responses.length,
      failed: errors + timeouts + non2xx,
    }
  }
}

let stop: ReturnType<typeof startLoad> | undefined

// The first message (`LoadOptions`) starts the load. The second message (`Window`) ends the load.
process.on('message', (message) => {
  if (stop) {
    void stop(Window.parse(message)).then((result) => process.send?.(result))
    stop = undefined
  } else stop = startLoad(LoadOptions.parse(message))
})
