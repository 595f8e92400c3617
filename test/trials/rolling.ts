import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

import { freePort } from '../postgres.ts'
import { createInstanceSettings } from './instance-settings.ts'
import { assertNothingLost, verifyLoad } from './load-verification.ts'
import { signInAll, startLoad } from './load-generator.ts'
import { waitUntilReady, type Service, startService } from './service-process.ts'
import { startDurablePostgres, trial } from './trial.ts'

const ROUNDS = 3

/** How long the load goes on before each stop, in milliseconds. */
const PEACE = 2000

/** Starts HAProxy with the settings that come with the service, but for its addresses. Answers its own. */
async function startBalancer([one, two]: readonly Service[]) {
  if (spawnSync('haproxy', ['-v']).error) throw new Error('HAProxy is needed: no haproxy was found on PATH')
  const listen = `127.0.0.1:${await freePort()}`
  const hostOf = (service?: Service) => new URL(service?.origin ?? '').host
  const child = spawn('haproxy', ['-db', '-f', 'deploy/haproxy.cfg'], {
    stdio: 'ignore',
    // The whole load comes from one source.
    env: { PATH: process.env.PATH, LISTEN: listen, ONE: hostOf(one), TWO: hostOf(two), REQUESTS: '1000000' },
  })
  process.once('exit', () => child.kill('SIGKILL'))
  await waitUntilReady(`http://${listen}`, () => {
    if (child.exitCode !== null) throw new Error(`HAProxy ended with ${child.exitCode}`)
  })
  return `http://${listen}`
}

/** Whether each session is good at every instance, wherever it was signed in. */
async function areGoodEverywhere(services: readonly Service[], cookies: readonly string[]) {
  const pairs = services.flatMap(({ origin }) => cookies.map((cookie) => ({ origin, cookie })))
  const ask = async ({ origin, cookie }: { origin: string; cookie: string }) =>
    (await fetch(`${origin}/api/me`, { headers: { cookie } })).ok
  return (await Promise.all(pairs.map(ask))).every(Boolean)
}

await trial('rolling', async (tell) => {
  const { url } = await startDurablePostgres()
  const settings = { DATABASE_URL: url, TRUSTED_PROXIES: 'loopback', STOP_DELAY: '3' }
  const environments = await createInstanceSettings(2, settings)
  const services = await Promise.all(environments.map((environment) => startService(environment)))
  const balancer = await startBalancer(services)
  const people = await signInAll(services)
  assert.ok(await areGoodEverywhere(services, people.writers), 'a session is not good at the other instance')
  const load = startLoad([balancer], people)
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, environment] of environments.entries()) {
      await sleep(PEACE)
      assert.deepEqual(await services[index]?.kill('SIGTERM'), { code: 0, signal: null })
      services[index] = await startService(environment)
    }
  await sleep(PEACE)
  await load.stop()

  const figures = await verifyLoad(load.entries, url)
  const failed = load.entries.filter(({ outcome }) => outcome !== 'answered')
  tell({ restarts: ROUNDS * services.length, ...figures, failed: failed.length })
  assertNothingLost(figures)
  assert.deepEqual(failed, [])
  assert.ok(await areGoodEverywhere(services, people.writers), 'a session did not outlive the restarts')
})
