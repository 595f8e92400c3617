import { randomUUID } from 'node:crypto'

import { eq } from 'drizzle-orm'
import { defineApp, job, mailTemplate } from 'tallystick'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'

import { jobRows } from '../../db/jobs/tables.ts'
import { contract } from './parcels/contract.ts'
import { app as other, parcels } from './parcels/app.ts'
import { databases } from './parcels/service.ts'

const NO_TEXT = {
  undefined,
  null: null,
  'an object without a prototype': Object.create(null) as unknown,
  'an error without a message': Object.assign(new Error(), { message: undefined }),
  'a list of such errors': new AggregateError([Object.create(null)]),
}
const Name = z.object({ name: z.string() })
const input = z.object({ name: z.string(), size: z.object({ width: z.int() }).optional() })

/** Throws a value without a text. */
const throwName = job({ input: Name, timeout: 30, retries: 0 }, ({ name }) => {
  throw NO_TEXT[name as keyof typeof NO_TEXT]
})

/** Ends at its timeout. */
const wait = job(
  { input: z.object({}), timeout: 20, retries: 0 },
  (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error)
      })
    }),
)

const keep = job({ input, retries: 0 }, () => Promise.resolve())
/** The output of the schema has another form than the input. */
const convert = job(
  { input: z.object({ name: z.string().transform((text) => text.length) }), retries: 0 },
  () => Promise.resolve(),
)

const greeting = mailTemplate(Name, ({ name }) => ({ subject: name, paragraphs: [name] }))

/** Sends e-mails, and fails in the first attempts. The first attempt lacks the first e-mail. */
const greet = job({ input: Name }, async ({ name }, { attempt, mail, transaction }) => {
  const send = (subject: string) => ({ to: 'ada@example.com', template: greeting, values: { name: subject } })
  if (attempt > 1) await mail.send(send(`${name} late`))
  await mail.send(send(name))
  await mail.send(send(name))
  await transaction((tx) => tx.mail.send(send(`${name} in a transaction`)))
  if (attempt < 3) throw new Error('The printer has no paper')
})

const app = defineApp({
  name: 'Test attempts',
  version: '1.0.0',
  description: 'Parcels, with jobs that end in many ways.',
  contract,
  migrationsFolder: other.migrationsFolder,
  resources: { parcels },
  jobs: { throwName, wait, keep, convert, greet },
  mails: { greeting },
})

const start = (environment: Record<string, string>) => createTallystick(app, environment)

describe.each(Object.entries(databases))('an attempt on %s', (_, environment) => {
  let service: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    service = await start(environment)
  }, 60_000)
  afterAll(() => service.close())
  const runDue = (until = new Date(Date.now() + 1000)) => service.runDueJobs({ until })
  const hour = () => new Date(Date.now() + 3_600_000)
  const find = async (id: string) =>
    (await service.services.db.select().from(jobRows).where(eq(jobRows.id, id))).at(0)

  test.each(Object.keys(NO_TEXT))('that throws %s fails at once', async (name) => {
    const id = await service.context().enqueue(throwName, { name })

    const attempts = await runDue()

    expect(attempts).toMatchObject([{ outcome: 'dead', error: expect.any(Error) as Error }])
    expect(await find(id)).toMatchObject({
      state: 'failed',
      output: { message: expect.any(String) as string },
    })
  })

  test('ends at the timeout with which the job was stored, whatever the release declares', async () => {
    const id = await service.context().enqueue(wait, {})
    await service.services.db.update(jobRows).set({ expireIn: '1 second' }).where(eq(jobRows.id, id))

    const [attempt] = await runDue()

    expect(attempt).toMatchObject({ error: new Error('The attempt has reached its timeout of 1 s') })
  })

  test('that fails does not send its e-mails again, and loses none', async () => {
    const name = randomUUID()
    await service.context().enqueue(greet, { name })

    const attempts = await runDue(hour())

    expect(attempts.filter((attempt) => attempt.name === 'greet').map(({ outcome }) => outcome)).toEqual([
      'failed',
      'failed',
      'completed',
    ])
    const subjects = service.letters.map(({ subject }) => subject).filter((text) => text.startsWith(name))
    expect(subjects.sort()).toEqual([name, name, `${name} in a transaction`, `${name} late`])
  })

  test('has only what the schema declares', async () => {
    const { enqueue } = service.context()
    const secret = 'a password'
    const extra = { size: { width: 1, secret }, secret }

    const kept = await enqueue(keep, { name: 'Ada', ...extra })
    const converted = await enqueue(convert, { name: 'Ada', ...extra })
    await runDue()

    expect((await find(kept))?.data?.input).toEqual({ name: 'Ada', size: { width: 1 } })
    expect((await find(converted))?.data?.input).toEqual({ name: 'Ada' })
  })
})
