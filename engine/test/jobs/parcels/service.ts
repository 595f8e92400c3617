import { asc } from 'drizzle-orm'
import { createTallystick } from 'tallystick-dev/testing'

import { app } from './app.ts'
import type { Client } from './contract.ts'
import { deliveries } from './db.ts'

/** The settings of each kind of database. */
export const databases: Record<string, Record<string, string>> = {
  'a server': {},
  'the embedded database': { DATABASE_URL: 'memory:' },
}

/** Starts the application. No worker runs: tests run the jobs. */
export async function startParcels(environment: Record<string, string>) {
  const service = await createTallystick(app, environment)
  const { db, insertJob, worker } = service.services
  return {
    ...service,
    db,
    person: (email?: string): Promise<Client> => service.person(email),
    enqueue: insertJob.bind(undefined, db),
    runDue: (until = new Date(Date.now() + 1000)) => worker.runDue(until),
    /** The attempts of the jobs with a label, oldest first. */
    attemptsOf: async (label: string) =>
      (await db.select().from(deliveries).orderBy(asc(deliveries.id))).filter((row) => row.label === label),
  }
}
