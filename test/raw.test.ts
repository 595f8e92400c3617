import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'

import { createApp } from '../src/app.ts'
import { somebody, startService } from './service.ts'
import { frame, framings, unending } from './trials/framing.ts'
import { faultsOf } from './trials/verdict.ts'
import { type Step, talk } from './trials/wire.ts'

const service = await startService({ ANSWER_TIMEOUT: '0.5' })
const port = Number(new URL(service.origin).port)
const caller = { cookie: await service.signIn(somebody()), mark: 'own' }
const given = { cut: 40, noise: Buffer.from('noise\r\n\r\n') }

describe('HTTP', () => {
  test.each(Object.keys(framings))('with %s is answered as is due, and no more', async (kind) => {
    const said = frame({ kind, ...given })(caller)

    const answers = said.isLast ? Infinity : said.due[1]
    const heard = await talk(port, said.steps, { answers, patience: 5000 })

    expect(faultsOf(said, heard, [])).toEqual([])
  })

  test('gives an expectation and a missing host answers in the one shape', async () => {
    const ask = async (lines: string) => {
      const steps: Step[] = [`GET /api/status HTTP/1.1\r\n${lines}connection: close\r\n\r\n`]
      const { answers } = await talk(port, steps, { patience: 5000 })
      return answers.map(({ status, headers, body }) => [
        status,
        headers.has('x-request-id'),
        JSON.parse(body) as unknown,
      ])
    }

    expect(await ask('host: x\r\nexpect: tea\r\n')).toMatchObject([[200, true, { status: 'ok' }]])
    expect(await ask('')).toMatchObject([
      [400, true, { code: 'BAD_REQUEST', error: 'A Host header is needed' }],
    ])
  })

  test('that cannot be read is answered, however much of it is still to come', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.write('BREW /api/status HTTP/1.1\r\nhost: x\r\ncontent-length: 20000000\r\n\r\n')
    // A caller that looks for an answer only when all is said.
    await new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.write(Buffer.alloc(20_000_000, 'x'), resolve)
    })

    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /)
  })

  test.each(Object.keys(unending))(
    'with %s is told so in time, however long an answer may take',
    async (kind) => {
      const server = createApp(service.parts)
      Object.assign(server, { headersTimeout: 1200, requestTimeout: 1200 })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      afterAll(() => server.close())
      const said = frame({ kind, ...given })(caller)

      const { answers, closed } = await talk((server.address() as AddressInfo).port, said.steps, {
        patience: 5000,
      })

      expect(answers.map(({ status }) => status)).toEqual([408])
      expect(closed).toBe(true)
    },
  )
})
