import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import { createRestClient } from '../../contract/client.ts'
import { readGauge } from './live-leak.ts'
import type { Marks } from './live-marks.ts'
import { readStream, type StreamRequest } from './live-reader.ts'
import { type Person, signInFromAnywhere, tokenOf } from './live-requests.ts'

/** Time limit for the notifications to work again after a fault, in milliseconds. */
const RECOVERY_LIMIT = 10_000

/**
 * Opens streams of a new session on both instances, and revokes the session. Returns the durations from the response
 * until each stream has ended, in milliseconds. Verifies that the session cannot open a stream any more.
 */
export async function measureRevocation(
  environments: readonly Record<string, string>[],
  instances: readonly { origin: string; dataDir: string }[],
  person: Person,
  marks: Marks,
) {
  await waitUntilConnected(environments)
  const [first, second] = instances
  assert.ok(first && second)
  const cookie = await signInFromAnywhere(first, person.email)
  const requests = instances.flatMap(({ origin }) =>
    (['REST', 'RPC'] as const).map((protocol): StreamRequest => ({
      origin,
      protocol,
      topics: ['tasks'],
      cookie,
    })),
  )
  const streams = requests.map((each) => openStream(each))
  await Promise.all(streams.map(({ opened }) => opened))
  const key = `sessions ${tokenOf(cookie)}`
  marks.adopt(key, person.name)
  marks.issueDeletion(key)
  const client = createRestClient(second.origin, { headers: { cookie: person.cookie } })
  await client.sessions.revoke({ revokeSessionToken: tokenOf(cookie) })
  marks.acknowledgeDeletion(key)
  const revoked = performance.now()
  const ends = await Promise.all(streams.map(({ ended }) => ended))
  const again = await Promise.all(requests.map((each) => readStream(each)))
  assert.deepEqual(
    again.map(({ status }) => status),
    again.map(() => 401),
    'a revoked session must not open a stream',
  )
  return ends.map((end) => Math.max(0, end - revoked))
}

/** Opens a stream. `opened` resolves with the first event, `ended` with the time of the end. */
function openStream(streamRequest: StreamRequest) {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  const ended = readStream(streamRequest, { onEvent: open }).then(({ status }) => {
    assert.equal(status, 200)
    return performance.now()
  })
  return { opened: Promise.race([opened, ended]), ended }
}

async function waitUntilConnected(environments: readonly Record<string, string>[]) {
  const start = performance.now()
  const readAll = () => Promise.all(environments.map((each) => readGauge(each, 'tallystick_live_connected')))
  while ((await readAll()).includes(0)) {
    assert.ok(performance.now() - start < RECOVERY_LIMIT, 'notifications do not work again after a fault')
    await sleep(100)
  }
}
