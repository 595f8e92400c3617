import { once } from 'node:events'
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { afterAll, expect, vi } from 'vitest'

export interface Received {
  id?: string
  event?: string
  data?: string
  retry?: string
  comment?: string
}

/** A client of event streams that uses Node's HTTP client, and shows what arrives. */
export interface EventSource {
  status: number
  headers: IncomingHttpHeaders
  events: Received[]
  response: IncomingMessage
  /** Whether the service has ended the stream with a complete body. */
  isComplete: () => boolean
  /** Returns the parsed data of the last event with a topic. */
  stateOf: (topic: string) => unknown
  close: () => void
}

const open: EventSource[] = []
afterAll(() => {
  for (const source of open) source.close()
})

/** Opens an event stream. The connection is not shared with other requests. */
export async function openEvents(
  origin: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<EventSource> {
  const request = get(origin + path, { agent: false, headers })
  request.on('error', () => undefined)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const events: Received[] = []
  let rest = ''
  response.setEncoding('utf8').on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    events.push(...blocks.map(parse))
  })
  response.on('error', () => undefined)
  const source = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    response,
    isComplete: () => response.complete,
    stateOf: (topic: string) =>
      events
        .map(({ data }) => JSON.parse(data ?? '{}') as { topic?: string; state?: unknown })
        .findLast((update) => update.topic === topic)?.state,
    close: () => {
      request.destroy()
    },
  }
  open.push(source)
  return source
}

function parse(block: string): Received {
  const fields = block.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line)?.slice(1) ?? [])
  return Object.fromEntries(fields.map(([name, value]) => [name || 'comment', value]))
}

/** Waits until a stream has received the state of a topic. */
export const waitForState = (source: EventSource, topic: string, state: unknown) =>
  vi.waitFor(
    () => {
      expect(source.stateOf(topic)).toEqual(state)
    },
    { timeout: 5000 },
  )

/** Waits until the service has ended a stream. */
export const waitForEnd = (source: EventSource, timeout = 2000) =>
  vi.waitFor(
    () => {
      expect(source.isComplete()).toBe(true)
    },
    { timeout },
  )
