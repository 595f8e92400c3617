import postgres from 'postgres'
import { inject } from 'vitest'

import type { App } from 'tallystick/internal/app/resource'
import { databaseUrl } from './database-url.ts'

/** Returns the PostgreSQL server of the test run. Throws an error if the run has none. */
export function postgresOfRun() {
  const provided = inject('postgres')
  if (!provided) throw new Error('Add `createPostgresSetup(app)` to `globalSetup` of Vitest')
  return provided
}

/** Creates a copy of a database on the server of the test run. */
export async function copyDatabase(template: string) {
  const { url } = postgresOfRun()
  const name = `tallystick_${process.pid}_${crypto.randomUUID().replaceAll('-', '')}`
  const admin = postgres(url, { max: 1, onnotice: () => undefined })
  await admin`create database ${admin(name)} template ${admin(template)}`
  return {
    url: databaseUrl(url, name),
    drop: async () => {
      await admin`drop database ${admin(name)} with (force)`
      await admin.end()
    },
  }
}

/**
 * Creates a database for an application: a copy of the template database (engine/dev/testing/setup.ts). Returns undefined if
 * the test run has no server.
 */
export async function createTestDatabase({ id }: Pick<App, 'id'>) {
  const template = inject('postgres')?.templates[id]
  return template === undefined ? undefined : copyDatabase(template)
}
