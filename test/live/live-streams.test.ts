import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'

import { startService, withTableLocked } from '../fixtures/service.ts'

const service = await startService({ ANSWER_TIMEOUT: '1', MAX_ADDRESS_STREAMS: '1', MAX_PERSON_STREAMS: '1' })

const wires: [protocol: string, path: string, body?: object][] = [
  ['REST', '/api/live?topics=counter'],
  ['RPC', '/rpc/live/watch', { json: { topics: ['counter'] } }],
]

/** Sends a request. `response` resolves with the headers of the response. */
function send(path: string, body?: object) {
  const headers = { ...(body && { 'content-type': 'application/json' }) }
  const outgoing = request(service.origin + path, { method: body ? 'POST' : 'GET', headers, agent: false })
  const response = once(outgoing, 'response').then(([response]: IncomingMessage[]) => response?.resume())
  response.catch(() => undefined)
  outgoing.on('error', () => undefined).end(body && JSON.stringify(body))
  return { response, disconnect: () => outgoing.destroy() }
}

/** Waits until the address has no open stream. The limit of open streams of one address is 1. */
async function expectNoOpenStream() {
  await vi.waitFor(async () => {
    const { response, disconnect } = send('/api/live?topics=counter')
    expect((await response)?.statusCode).toBe(200)
    disconnect()
  })
  await sleep(50)
}

describe('live.watch', () => {
  test.each(wires)(
    'closes a stream whose first state arrives after ANSWER_TIMEOUT, over %s',
    async (_, ...call) => {
      await withTableLocked(service.databaseUrl, 'counter', async () => {
        const response = await send(...call).response
        expect(response?.statusCode).toBe(503)
      })

      await expectNoOpenStream()
    },
  )

  test.each(wires)(
    'closes a stream whose client disconnects before the first state, over %s',
    async (_, ...call) => {
      await withTableLocked(service.databaseUrl, 'counter', async () => {
        const { disconnect } = send(...call)
        await sleep(100)
        disconnect()
        await sleep(100)
      })

      await expectNoOpenStream()
    },
  )

  test('closes the stream of a pipelined request if the connection is lost before the first state', async () => {
    const { hostname, port } = new URL(service.origin)
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
    await withTableLocked(service.databaseUrl, 'counter', async () => {
      const socket = connect(Number(port), hostname)
      socket.write(get('/api/counter') + get('/api/live?topics=counter'))
      await sleep(100)
      socket.destroy()
      await sleep(100)
    })

    await expectNoOpenStream()
  })

  test('closes the stream of a call in a batch', async () => {
    const headers = { 'x-orpc-batch': 'buffered', 'content-type': 'application/json' }
    const body = [{ url: `${service.origin}/rpc/live/watch`, body: { json: { topics: ['counter'] } } }]
    const options = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${service.origin}/rpc/__batch__`, options)
    expect(await response.text()).toContain('outside of a batch')

    await expectNoOpenStream()
  })

  test('closes the stream of a caller in the same process if the call is aborted before the first state', async () => {
    const person = await service.person()
    const aborting = new AbortController()
    const topics: ['tasks'] = ['tasks']
    const opened: Promise<unknown>[] = []
    await withTableLocked(service.databaseUrl, 'tasks', async () => {
      opened.push(person.live.watch({ topics }, { signal: aborting.signal }))
      await sleep(100)
      aborting.abort()
    })
    await Promise.allSettled(opened)

    await expect(person.live.watch({ topics })).resolves.toBeDefined()
  })
})
