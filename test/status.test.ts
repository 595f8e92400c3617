import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'

import { describeTransports, startService } from './fixtures/service.ts'

const named = await startService({ SERVICE: 'tally-1', RELEASE: '2024.7' })
const unnamed = await startService()

describeTransports(named, ({ stranger }) => {
  describe('status.get', () => {
    test('returns the instance and the release to every caller', async () => {
      expect(await stranger.status.get()).toEqual({ status: 'ok', service: 'tally-1', release: '2024.7' })
    })
  })
})

describeTransports(unnamed, ({ stranger }) => {
  describe('status.get', () => {
    test('uses the host name, the process id and a local release by default', async () => {
      const service = `${hostname()}:${process.pid}`

      expect(await stranger.status.get()).toEqual({ status: 'ok', service, release: 'local' })
    })
  })
})
