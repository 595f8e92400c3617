import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { type HttpRequest, quantile, sendRequest } from './http-client.ts'

/** Number of requests per second. */
const RATE = 50

/**
 * Sends requests in turn, at a constant rate, independent of the responses. Throws if an answer is not 200. Returns the 99th percentile
 * in milliseconds.
 */
export async function measureRequests(
  origin: string,
  requests: readonly HttpRequest[],
  until: () => boolean,
): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  const durations: Promise<number>[] = []
  const send = async (turn: number) => {
    const request = requests[turn % requests.length] ?? { method: 'GET', path: '/' }
    const { status, body, duration } = await sendRequest(agent, origin, request)
    if (status !== 200) throw new Error(`${request.method} ${request.path} answered ${status}: ${body}`)
    return duration
  }
  const start = performance.now()
  for (let turn = 0; !until(); turn++) {
    durations.push(send(turn))
    await sleep(Math.max(0, (turn + 1) * (1000 / RATE) - (performance.now() - start)))
  }
  const times = await Promise.all(durations)
  agent.destroy()
  return quantile(times, 0.99)
}
