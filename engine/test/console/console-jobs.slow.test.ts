import { randomUUID } from 'node:crypto'

import { job } from 'tallystick'
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'

import { list as listAudit } from '../../db/accounts/audit.ts'
import { findOrCreate } from '../../db/accounts/users.ts'
import { createContext } from '../../guard/authentication.ts'
import { startConsole } from '../fixtures/console.ts'
import { app as letters, arrived } from '../jobs/letters.ts'
import { app as parcels } from '../jobs/parcels/app.ts'
import { deliver, weigh } from '../jobs/parcels/jobs.ts'

const notify = job(
  { input: z.object({ ownerId: z.string(), apiToken: z.string() }), person: ({ ownerId }) => ownerId },
  () => Promise.resolve(),
)
const app = { ...letters, jobs: { ...parcels.jobs, notify } }
const all = { state: null, queue: null }
const tomorrow = () => new Date(Date.now() + 86_400_000)

describe.each([
  ['a server', {}],
  ['the embedded database', { DATABASE_URL: 'memory:' }],
])('the jobs in the console, on %s', (_, environment) => {
  let running: Awaited<ReturnType<typeof startConsole>>
  beforeAll(async () => {
    running = await startConsole(environment, app)
  }, 60_000)

  const context = () => createContext(running.services, {})
  const runDue = (until = new Date(Date.now() + 1000)) => running.services.worker.runDue(until)

  /** Adds a job that fails, and runs all its attempts. Returns its id. */
  async function addDead() {
    const id = await context().enqueue(deliver, { label: randomUUID(), then: 'fail' })
    await runDue(tomorrow())
    return id
  }
  const listRetries = async () =>
    (await listAudit(running.services.db, { action: 'jobs.retry' }, { limit: 100 })).map(
      ({ actor, subject, outcome, detail }) => ({ actor, subject, outcome, detail }),
    )

  test('are listed by queue and state, the newest first', async () => {
    const { client } = running
    const dead = await addDead()
    const done = await context().enqueue(weigh, { label: 'done' })
    await runDue()
    const waiting = await context().enqueue(weigh, { label: 'waiting' }, { after: tomorrow() })

    const { queues, counts, jobs } = await client.jobs.list(all)

    const [first, second, third] = [waiting, done, dead].map((id) => jobs.find((each) => each.id === id))
    expect(jobs.filter((each) => [first, second, third].includes(each))).toEqual([first, second, third])
    expect([first, second, third]).toMatchObject([
      { queue: 'weigh', state: 'waiting', attempts: 0, maxAttempts: 1, error: null, endedAt: null },
      { queue: 'weigh', state: 'done', attempts: 1, error: null, endedAt: expect.any(Number) as number },
      { queue: 'deliver', state: 'dead', attempts: 3, maxAttempts: 3 },
    ])
    expect(third?.error).toMatch(/^The address of .* is unknown$/)
    expect(counts).toContainEqual({ queue: 'weigh', state: 'waiting', count: 1 })
    expect(queues.map(({ name }) => name)).toEqual([...Object.keys(app.jobs), 'mail'])
    expect(queues.filter(({ schedule }) => schedule)).not.toEqual([])
    for (const { schedule } of queues)
      if (schedule) expect(schedule.nextRun).toBeGreaterThan(Date.now() - 60_000)
    const filtered = await client.jobs.list({ state: 'waiting', queue: 'weigh' })
    expect(filtered.jobs.map(({ id }) => id)).toEqual([waiting])
  })

  test('show the address of their person, and no secret of their input', async () => {
    const { db } = running.services
    const { id: ownerId } = await findOrCreate(db, { email: 'ada@example.com', name: 'Ada' })
    const id = await context().enqueue(notify, { ownerId, apiToken: 'tally_1' }, { after: tomorrow() })

    const found = await running.client.jobs.get({ id })

    expect(found).toMatchObject({ person: 'ada@example.com', letter: null })
    expect(JSON.parse(found.input ?? '')).toEqual({ ownerId, apiToken: '(removed)' })
    expect(JSON.stringify(await running.client.jobs.list(all))).not.toContain('tally_1')
  })

  test('that are dead run again, with all their attempts and an entry in the audit trail', async () => {
    const { client } = running
    const id = await addDead()
    const before = await listRetries()

    await client.jobs.retry({ id })

    expect(await client.jobs.get({ id })).toMatchObject({ state: 'waiting', attempts: 0, endedAt: null })
    expect(await listRetries()).toEqual([
      { actor: 'operator', subject: null, outcome: 'accepted', detail: `deliver ${id}` },
      ...before,
    ])
    await expect(client.jobs.retry({ id })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await listRetries()).toHaveLength(before.length + 1)
    expect(await runDue(tomorrow())).toContainEqual(expect.objectContaining({ id, outcome: 'dead' }))
  })

  test('are listed in the request that has added them', async () => {
    const { recorder } = running.services
    const { client } = running
    const abort = new AbortController()
    const batches = await client.watch(undefined, { signal: abort.signal })
    await batches.next()
    let id = ''
    const attempt = { id: randomUUID(), name: 'outer', input: {} }
    await recorder?.recordAttempt(attempt, async () => {
      id = await context().enqueue(weigh, { label: 'added' }, { after: tomorrow() })
      return { id: attempt.id, outcome: 'completed' as const }
    })

    const found = await batches.next()
    abort.abort()
    await batches.return(undefined).catch(() => undefined)
    expect(found.value).toMatchObject({ requests: [{ id: attempt.id, jobs: [{ id, queue: 'weigh' }] }] })
  })

  test('that wait run now', async () => {
    const { client } = running
    const id = await context().enqueue(weigh, { label: 'later' }, { after: tomorrow() })

    await client.jobs.runNow({ id })

    expect(await runDue()).toContainEqual({ name: 'weigh', id, outcome: 'completed' })
    await expect(client.jobs.runNow({ id })).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(client.jobs.get({ id: randomUUID() })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('that send an e-mail show the e-mail, without scripts', async () => {
    const { ask, client, cookie } = running
    const id = await context().mail.send({
      to: 'ada@example.com',
      template: arrived,
      values: { label: '<script>alert(1)</script>', at: new Date(0) },
    })
    const other = await context().enqueue(weigh, { label: 'no e-mail' }, { after: tomorrow() })

    const { queue, letter } = await client.jobs.get({ id })
    const page = await ask('GET', `/mails/${id}`, { cookie })
    const statuses = await Promise.all(
      [`/mails/${other}`, `/mails/${randomUUID()}`, '/mails/x'].map(
        async (path) => (await ask('GET', path, { cookie })).status,
      ),
    )

    expect([queue, letter]).toEqual([
      'mail',
      {
        to: 'ada@example.com',
        subject: 'en: <script>alert(1)</script>',
        text: expect.stringContaining('The parcel <script>alert(1)</script> has arrived.') as string,
      },
    ])
    expect(page.status).toBe(200)
    expect(page.body.toString()).toContain('The parcel &lt;script&gt;alert(1)&lt;/script&gt; has arrived.')
    expect(page.headers['content-security-policy']).toMatch(/default-src 'none';.* sandbox;/)
    expect((await ask('GET', `/mails/${id}`)).status).toBe(401)
    expect(statuses).toEqual([404, 404, 404])
  })

  test('appear in the requests, one for each attempt', async () => {
    const abort = new AbortController()
    const events = await running.client.watch(undefined, { signal: abort.signal })
    await events.next()
    const id = await addDead()

    const attempts = []
    while (attempts.length < 3) {
      const { value, done } = await events.next()
      if (done) break
      attempts.push(...value.requests.filter((request) => request.id === id))
    }
    abort.abort()

    expect(attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'dead'])
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({ operation: 'jobs.deliver', protocol: 'job', status: null })
      expect(attempt.calls[0]?.error?.message).toMatch(/^The address of/)
      expect(JSON.parse(attempt.calls[0]?.input ?? '')).toMatchObject({ then: 'fail' })
      expect(attempt.statements.map(({ text }) => text)).toContainEqual(
        expect.stringContaining('insert into "deliveries"'),
      )
    }
  })
})

test('an application without jobs has none of it', async () => {
  const { ask, client, cookie } = await startConsole()

  expect((await client.overview()).hasJobs).toBe(false)
  const id = randomUUID()
  for (const call of [
    client.jobs.list(all),
    client.jobs.get({ id }),
    client.jobs.retry({ id }),
    client.jobs.runNow({ id }),
  ])
    await expect(call).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect((await ask('GET', `/mails/${id}`, { cookie })).status).toBe(404)
})
