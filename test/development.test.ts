import { describe, expect, test } from 'vitest'

import { startConsole } from '../engine/test/fixtures/console.ts'
import { createRawFetch } from '../engine/test/fixtures/http.ts'
import { sampleAccounts } from '../engine/operator/seed.ts'
import { app } from '../src/app.ts'
import { createClient } from '../contract/client.ts'
import { startService } from './fixtures/service.ts'

const { askRoot, client, origin, port, service } = await startConsole({}, app)
const ask = createRawFetch(service)
const withoutConsole = await startService()

/** Signs a sample person in by a link of the console. Returns the client, and the header of the session. */
async function signIn(person: 'ada' | 'charles' | 'admin') {
  const { url } = await client.people.signIn({ person })
  const { pathname, search, host } = new URL(url)
  const { headers } = await askRoot('GET', pathname + search, { host })
  const cookie = headers['set-cookie']?.map((line) => line.split(';', 1)[0]).join('; ') ?? ''
  return { cookie, client: createClient(service.origin, { headers: { cookie } }) }
}

const addSamples = (headers: Record<string, string>) => ask('POST', '/api/development/samples', headers)

describe('GET /api/development/console', () => {
  test('leads to the console, without a key that would open the console', async () => {
    const { status, headers } = await ask('GET', '/api/development/console')

    expect([status, headers.location]).toEqual([303, origin])
    expect(origin).toBe(`http://127.0.0.1:${port}`)
  })
})

describe('POST /api/development/samples', () => {
  test('adds the samples of all resources for the signed-in person, again without a change', async () => {
    const { cookie, client: admin } = await signIn('admin')

    expect((await addSamples({ cookie })).status).toBe(200)
    const { taskCount } = await admin.tasks.list({})
    expect((await addSamples({ cookie })).status).toBe(200)

    expect((await admin.tasks.list({})).tasks.map(({ title }) => title)).toContain('Order tea for forty')
    expect((await admin.tasks.list({})).taskCount).toBe(taskCount)
    expect((await admin.notes.list({})).notes.filter(({ mine }) => !mine)).toHaveLength(1)
    expect((await admin.account.get()).name).toBe('Administrator')
  })

  test('announces the samples to open streams of the person', async () => {
    const { cookie, client: ada } = await signIn('ada')
    const states = await ada.live.watch({ topics: ['tasks'] })
    await states.next()
    await addSamples({ cookie })

    const { value } = await states.next()

    expect(JSON.stringify(value)).toContain('Order tea for forty')
    await states.return()
  })

  test('gives the other sample person another account', async () => {
    const { cookie, client: charles } = await signIn('charles')

    expect((await addSamples({ cookie })).status).toBe(200)

    expect((await charles.notes.list({})).notes.map(({ title }) => title)).toContain('Books to return')
    expect(sampleAccounts('charles@example.com').charles.email).toBe('ada@example.com')
  })

  test('refuses callers without a session, and pages of other sites', async () => {
    const { cookie } = await signIn('ada')

    expect((await addSamples({})).status).toBe(401)
    expect((await addSamples({ cookie, origin: 'https://evil.example' })).status).toBe(403)
  })
})

describe('a service without the console', () => {
  test('has no endpoints for development', async () => {
    const askWithout = createRawFetch(withoutConsole)
    const cookie = await withoutConsole.signIn('ada@example.com')

    expect((await askWithout('GET', '/api/development/console')).status).toBe(404)
    expect((await askWithout('POST', '/api/development/samples', { cookie })).status).toBe(404)
    expect((await withoutConsole.client({ cookie }).tasks.list({})).taskCount).toBe(0)
  })
})
