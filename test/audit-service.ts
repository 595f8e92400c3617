import { desc } from 'drizzle-orm'
import postgres from 'postgres'
import { afterAll } from 'vitest'

import { audit, list } from '../db/audit.ts'
import { createFetch, signInOverHttp } from './http.ts'
import { run } from './operator.ts'
import { newEmail, settingsWithAddress, startService } from './service.ts'

export const ROOT = 'root@example.com'
export const AGENT = 'A browser/1.0'

export interface Person {
  email: string
  cookie: string
  id: string
}

/** An administrator and a user. */
export interface People {
  root: Person
  ada: Person
}

/** Starts a service. Returns functions that send requests with a known User-Agent header and read the audit trail. */
export async function startAuditedService() {
  const service = await startService({ ...(await settingsWithAddress()), ADMIN_EMAILS: ROOT })
  const { db } = service.services
  const database = postgres(service.databaseUrl, { max: 2, onnotice: () => undefined })
  afterAll(() => database.end())

  const agent = { 'user-agent': AGENT }
  const call = createFetch(service)
  const post = (path: string, body: object | undefined, cookie?: string) =>
    call('POST', path, body, { ...agent, ...(cookie !== undefined && { cookie }) })
  const get = (path: string, cookie: string) => call('GET', path, undefined, { ...agent, cookie })

  async function signIn(email = newEmail()): Promise<Person> {
    const { cookie } = await signInOverHttp(service, email, agent)
    const { body } = await get('/api/me', cookie)
    return { email, cookie, id: (body as { id: string }).id }
  }
  const createPeople = async (): Promise<People> => ({ root: await signIn(ROOT), ada: await signIn() })

  /** Returns the audit entries that the service writes while `work` runs. */
  async function entriesDuring(work: () => Promise<unknown>) {
    const [last] = await db.select().from(audit).orderBy(desc(audit.id)).limit(1)
    await work()
    const rows = await list(db, undefined, { limit: 1000 })
    return rows.filter(({ id }) => id > (last?.id ?? 0))
  }

  const environment = { DATABASE_URL: service.databaseUrl, AUTH_SECRET: 'x'.repeat(32) }
  const runCommand = (...words: string[]) => run(environment, ...words)

  return { service, db, database, call, post, get, signIn, createPeople, entriesDuring, run: runCommand }
}
