import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import { createInstanceSettings } from './instance-settings.ts'
import { startMailServer } from './mail-server.ts'
import { type Service, startService } from './service-process.ts'

/** Load between two stops, in milliseconds, and the pause between two jobs. */
const LOAD_DURATION = 3000
const PAUSE = 20

/** Time for the jobs of killed instances to run again, in milliseconds. */
const DRAIN_TIMEOUT = 120_000

interface Row {
  label: string
  attempt: number
  scheduledFor: string | null
}

const start = (environment: Record<string, string>) =>
  startService(environment, ['--import', 'tsx', 'test/trials/job-service.ts'])

/** Enqueues jobs at one instance after the other, until `stop`. `labels` has the labels of the answered requests. */
function startLoad(services: readonly Service[]) {
  const labels: string[] = []
  let isStopping = false
  const enqueue = async (label: string, origin = '') => {
    const request = { method: 'POST', body: label, headers: { 'content-type': 'text/plain' } }
    const answer = await fetch(`${origin}/api/labels`, request).catch(() => undefined)
    if (answer?.status === 201) labels.push(label)
  }
  const run = async () => {
    for (let index = 0; !isStopping; index++) {
      await enqueue(`label-${index}`, services[index % services.length]?.origin)
      await sleep(PAUSE)
    }
  }
  const loop = run()
  return {
    labels,
    stop: () => {
      isStopping = true
      return loop
    },
  }
}

/** Waits until no job waits. Returns the rows that the jobs have left. */
async function drain({ origin }: Service) {
  const started = Date.now()
  for (;;) {
    const { waiting, rows } = (await (await fetch(`${origin}/api/labels`)).json()) as {
      waiting: number
      rows: Row[]
    }
    if (waiting === 0) return rows
    assert.ok(Date.now() - started < DRAIN_TIMEOUT, `${waiting} jobs still wait`)
    await sleep(500)
  }
}

/**
 * Stops instances that run jobs in turn, under load, and starts each again. Throws if a job or an e-mail is lost, or a time of a schedule
 * was enqueued twice. Returns figures. A job and an e-mail run at least once, so repetitions are only counted.
 */
export async function stopUnderJobs(
  signal: 'SIGKILL' | 'SIGTERM',
  stops: number,
  instances: number,
  settings: Record<string, string> = {},
) {
  const mails = await startMailServer()
  const environments = await createInstanceSettings(instances, {
    ...settings,
    RATE_LIMITS: 'off',
    LIMITS: '',
    SMTP_URL: mails.url,
  })
  const services: Service[] = []
  for (const environment of environments) services.push(await start(environment))
  const load = startLoad(services)
  for (let stop = 0; stop < stops; stop++) {
    await sleep(LOAD_DURATION)
    const index = stop % instances
    await services[index]?.kill(signal)
    services[index] = await start(environments[index] ?? {})
  }
  await load.stop()
  const [first] = services
  assert.ok(first)
  const rows = await drain(first)
  for (const service of services) await service.kill('SIGTERM')
  mails.close()

  const stored = rows.filter(({ label }) => label !== 'tick')
  const ticks = rows.filter(({ label }) => label === 'tick')
  const count = (values: readonly string[]) => ({ all: values.length, different: new Set(values).size })
  const [jobs, letters] = [count(stored.map(({ label }) => label)), count(mails.subjects)]
  const slots = count(ticks.map(({ attempt, scheduledFor }) => `${attempt} ${scheduledFor}`))
  const missing = (values: readonly string[]) => {
    const found = new Set(values)
    return load.labels.filter((label) => !found.has(label)).length
  }
  const figures = {
    instances,
    stops,
    jobs: load.labels.length,
    lostJobs: missing(stored.map(({ label }) => label)),
    repeatedJobs: jobs.all - jobs.different,
    lostMails: missing(mails.subjects),
    repeatedMails: letters.all - letters.different,
    scheduled: slots.different,
    scheduledTwice: slots.all - slots.different,
  }
  const { lostJobs, lostMails, scheduledTwice } = figures
  assert.ok(figures.jobs > 0 && slots.different > 0, 'no job was enqueued, or no schedule ran')
  assert.deepEqual({ lostJobs, lostMails, scheduledTwice }, { lostJobs: 0, lostMails: 0, scheduledTwice: 0 })
  return figures
}
