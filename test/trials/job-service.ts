import { sql } from 'drizzle-orm'
import { defineApp, endpoint, job, mailTemplate } from 'tallystick'
import { serve } from 'tallystick/serve'
import * as z from 'zod'

import { jobRows } from '../../engine/db/jobs/tables.ts'
import { app as parcels, parcels as resource } from '../../engine/test/jobs/parcels/app.ts'
import { contract } from '../../engine/test/jobs/parcels/contract.ts'
import { deliveries } from '../../engine/test/jobs/parcels/db.ts'

// A program: serves an application whose jobs leave rows and e-mails, for `kills` and `rolling`, and with an endpoint that reads a
// stream, for `slow-senders`.

const Labelled = z.object({ label: z.string() })
const noted = mailTemplate(Labelled, ({ label }) => ({ subject: label, paragraphs: ['Noted.'] }))

/** Leaves a row and an e-mail, in one transaction. */
const note = job({ input: Labelled, timeout: 5 }, ({ label }, { attempt, transaction }) =>
  transaction(async ({ db, mail }) => {
    await db.insert(deliveries).values({ label, attempt, process: process.pid })
    await mail.send({ to: 'notes@example.com', template: noted, values: { label } })
  }),
)

/** Leaves a row each minute. */
const tick = job(
  { input: z.object({}), timeout: 5, schedule: { cron: '* * * * *' } },
  async (_, { db, attempt, scheduledFor }) => {
    await db.insert(deliveries).values({
      label: 'tick',
      attempt,
      process: process.pid,
      ...(scheduledFor && { scheduledFor }),
    })
  },
)

const shared = { path: '/api/labels', rateLimit: { name: 'labels', points: 1, duration: 1 } } as const
const enqueueLabel = endpoint({ ...shared, method: 'POST', body: 'text' }, async ({ body, context }) => {
  await context.enqueue(note, { label: body })
  return new Response(null, { status: 201 })
})
const readLabels = endpoint({ ...shared, method: 'GET' }, async ({ context: { db } }) =>
  Response.json({
    waiting: await db.$count(jobRows, sql`${jobRows.state} < 'completed'`),
    rows: await db.select().from(deliveries),
  }),
)
/** Reads a body while it arrives. */
const countBytes = endpoint(
  { ...shared, method: 'PUT', path: '/api/uploads', body: 'stream' },
  async ({ body }) => {
    let bytes = 0
    for await (const chunk of body) bytes += chunk.length
    return Response.json({ bytes })
  },
)

const app = defineApp({
  name: 'Trial jobs',
  version: '1.0.0',
  description: 'Jobs that leave rows and e-mails, and uploads.',
  contract,
  migrationsFolder: parcels.migrationsFolder,
  resources: { parcels: resource },
  jobs: { note, tick },
  mails: { noted },
  endpoints: { enqueueLabel, readLabels, countBytes },
})

await serve(app, process.env)
