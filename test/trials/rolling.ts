import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

import { freePort } from '../../engine/dev/testing/postgres.ts'
import { createInstanceSettings } from './instance-settings.ts'
import { stopUnderJobs } from './job-load.ts'
import { signInAll, startLoad } from './load-generator.ts'
import { assertNothingLost, verifyLoad } from './load-verification.ts'
import { type Service, startService, waitUntilReady } from './service-process.ts'
import { startDurablePostgres, trial } from './trial.ts'

const ROUNDS = 3

/** Duration of the load before each stop, in milliseconds. */
const LOAD_DURATION = 2000

/** Starts HAProxy with deploy/haproxy.cfg and the addresses of the instances. Returns its origin. */
async function startBalancer([one, two]: readonly Service[]) {
  if (spawnSync('haproxy', ['-v']).error) throw new Error('Install HAProxy: there is no haproxy on PATH')
  const listen = `127.0.0.1:${await freePort()}`
  const hostOf = (service?: Service) => new URL(service?.origin ?? '').host
  const child = spawn('haproxy', ['-db', '-f', 'deploy/haproxy.cfg'], {
    stdio: 'ignore',
    // REQUESTS is the request limit for one IP address in haproxy.cfg. It is high, because the whole load comes from
    // one address.
    env: { PATH: process.env.PATH, LISTEN: listen, ONE: hostOf(one), TWO: hostOf(two), REQUESTS: '1000000' },
  })
  process.once('exit', () => child.kill('SIGKILL'))
  await waitUntilReady(`http://${listen}`, () => {
    if (child.exitCode !== null) throw new Error(`HAProxy ended with ${child.exitCode}`)
  })
  return `http://${listen}`
}

/** Returns whether every session is valid at every instance. */
async function areValidEverywhere(services: readonly Service[], cookies: readonly string[]) {
  const pairs = services.flatMap(({ origin }) => cookies.map((cookie) => ({ origin, cookie })))
  const isValid = async ({ origin, cookie }: { origin: string; cookie: string }) =>
    (await fetch(`${origin}/api/me`, { headers: { cookie } })).ok
  return (await Promise.all(pairs.map(isValid))).every(Boolean)
}

await trial('rolling', async (report) => {
  const { url } = await startDurablePostgres()
  const settings = { DATABASE_URL: url, TRUSTED_PROXIES: 'loopback' }
  const environments = await createInstanceSettings(2, settings)
  const services = await Promise.all(environments.map((environment) => startService(environment)))
  const balancer = await startBalancer(services)
  const people = await signInAll(services)
  assert.ok(
    await areValidEverywhere(services, people.writers),
    'a session is not valid at the other instance',
  )
  const load = startLoad([balancer], people)
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, environment] of environments.entries()) {
      await sleep(LOAD_DURATION)
      assert.deepEqual(await services[index]?.kill('SIGTERM'), { code: 0, signal: null })
      services[index] = await startService(environment)
    }
  await sleep(LOAD_DURATION)
  await load.stop()

  const figures = await verifyLoad(load.entries, url)
  const failed = load.entries.filter(({ outcome }) => outcome !== 'answered')
  report({ restarts: ROUNDS * services.length, ...figures, failed: failed.length })
  assertNothingLost(figures)
  assert.deepEqual(failed, [])
  assert.ok(await areValidEverywhere(services, people.writers), 'a session was lost in the restarts')
  const jobs = await startDurablePostgres()
  report(await stopUnderJobs('SIGTERM', ROUNDS * services.length, 2, { DATABASE_URL: jobs.url }))
})
