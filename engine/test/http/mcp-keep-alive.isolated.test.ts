import { describe, expect, onTestFinished, test, vi } from 'vitest'

// The timer of the comments starts when the service is imported.
vi.useFakeTimers({ toFake: ['setInterval'] })
const { accept, createMcpCalls, requestByRevision2026 } = await import('../fixtures/mcp-agent.ts')
const { settingsWithAddress, startService } = await import('../fixtures/service.ts')

const service = await startService(await settingsWithAddress())
const { authorizeAgent, url } = createMcpCalls(service)

/** Returns a function that reads the stream until the text arrives. */
function readerOf({ body }: Response) {
  const stream = body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return async (expected: string) => {
    while (!text.includes(expected)) {
      const { value, done } = (await stream?.read()) ?? { done: true }
      if (done) throw new Error(`The stream ended after: ${text}`)
      text += value
    }
    return text
  }
}

describe('a subscription', () => {
  test('sends a comment every 15 seconds, and cannot be buffered or compressed', async () => {
    const { credentials } = await authorizeAgent()
    const { headers, body } = requestByRevision2026('subscriptions/listen', {
      notifications: { resourceSubscriptions: ['test-library://visits'] },
    })
    const aborting = new AbortController()
    onTestFinished(() => {
      aborting.abort()
    })
    const response = await fetch(url, {
      method: 'POST',
      headers: { accept, 'content-type': 'application/json', ...headers, ...credentials },
      body: JSON.stringify(body),
      signal: aborting.signal,
    })
    const read = readerOf(response)
    const acknowledgement = await read('\n\n')
    expect(acknowledgement).toContain('notifications/subscriptions/acknowledged')

    vi.advanceTimersByTime(15_000)

    expect(await read(': \n\n')).toBe(`${acknowledgement}: \n\n`)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('cache-control')).toContain('no-transform')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
  })
})
