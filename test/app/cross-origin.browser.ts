import { build } from 'esbuild'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { launchBrowser } from '../fixtures/browser.ts'
import { codeSentTo, createFetch } from '../../engine/test/fixtures/http.ts'
import { registerApp } from '../../engine/test/fixtures/oauth-app.ts'
import { newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'

/** The code in docs/clients.md that signs a person in and calls the service. */
const documented = /```ts\n(import { createAuthClient[^]*?)```/.exec(
  readFileSync('docs/clients.md', 'utf8'),
)?.[1]

const pages = await startPages()
const otherPages = await startPages()
const settings = await settingsWithAddress()
const baseUrl = `http://localhost:${settings.PORT ?? ''}`
const service = await startService({
  ...settings,
  BASE_URL: baseUrl,
  TRUSTED_ORIGINS: `${pages.origin},${pages.foreign}`,
})
let browser: Browser

/** Starts a web server on another port, with a page that contains the documented code. */
async function startPages() {
  let script = ''
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><script src="/page.js"></script>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => server.close())
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://localhost:${port}`,
    /** The same page on another site. */
    foreign: `http://tallystick.test:${port}`,
    setScript: (text: string) => (script = text),
  }
}

beforeAll(async () => {
  const contents =
    `${documented ?? ''}\nObject.assign(globalThis, { authClient, client, requestCode, signIn })`
      .replaceAll('http://localhost:3000', baseUrl)
      .replaceAll("'tallystick-client'", "'./contract/client.ts'")
  const options = { bundle: true, write: false, format: 'iife' } as const
  const { outputFiles } = await build({ stdin: { contents, resolveDir: '.', loader: 'ts' }, ...options })
  for (const { setScript } of [pages, otherPages]) setScript(outputFiles[0]?.text ?? '')
  browser = await launchBrowser({ args: ['--host-resolver-rules=MAP tallystick.test 127.0.0.1'] })
})
afterAll(() => browser.close())

/** Opens a page, and evaluates an expression with the names of the documented code. */
async function openPage(url: string) {
  const page = await (await browser.newContext()).newPage()
  await page.goto(url)
  return (expression: string) => page.evaluate<unknown>(`(async () => ${expression})()`)
}

async function signIn(evaluate: Awaited<ReturnType<typeof openPage>>) {
  const email = newEmail()
  await evaluate(`requestCode('${email}')`)
  await evaluate(`signIn('${email}', '${codeSentTo(service, email) ?? ''}')`)
  return email
}

const failure = (expression: string) => `${expression}.then(() => 'answered', ({ name }) => name)`

describe('a page of a trusted origin on another port', () => {
  test('signs in with the client of better-auth, and calls with the cookie', async () => {
    const evaluate = await openPage(pages.origin)

    const email = await signIn(evaluate)

    expect(await evaluate('client.account.get()')).toMatchObject({ email })
    expect(await evaluate('(await authClient.getSession()).data.user')).toMatchObject({ email })
    expect(
      await evaluate(
        'new Promise((done) => authClient.useSession.subscribe(({ data }) => data && done(data.user)))',
      ),
    ).toMatchObject({ email })
    expect(await evaluate("client.tasks.create({ taskTitle: 'One' })")).toMatchObject({ title: 'One' })
    expect(await evaluate('(await authClient.signOut()).data')).toEqual({ success: true })
    expect(await evaluate(failure('client.account.get()'))).not.toBe('answered')
  })

  test('sends the documented request headers, and reads the documented response headers', async () => {
    const evaluate = await openPage(pages.origin)
    await signIn(evaluate)
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': 'one',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    }
    const create = JSON.stringify({
      method: 'POST',
      credentials: 'include',
      headers,
      body: '{"taskTitle":"One"}',
    })
    const change = JSON.stringify({
      method: 'PATCH',
      credentials: 'include',
      headers: { 'content-type': 'application/json', 'if-match': '"0"', authorization: 'Basic x' },
      body: '{}',
    })

    const task = (await evaluate(`(await fetch('${baseUrl}/api/tasks', ${create})).json()`)) as { id: number }

    expect(await evaluate(`(await fetch('${baseUrl}/api/tasks/${task.id}', ${change})).status`)).toBe(412)
    expect(
      await evaluate(
        `[...(await fetch('${baseUrl}/api/tasks/${task.id}', { credentials: 'include' })).headers.keys()]`,
      ),
    ).toEqual(expect.arrayContaining(['etag', 'x-request-id']))
  })

  test('receives live updates, also when it resumes a stream', async () => {
    const evaluate = await openPage(pages.origin)
    await signIn(evaluate)
    const open = (options: string) =>
      `(async () => { for await (const { state } of await client.live.watch({ topics: ['tasks'] }, ${options})) return state })()`
    const source = `new EventSource('${baseUrl}/api/live?topics=tasks', { withCredentials: true })`

    await evaluate("client.tasks.create({ taskTitle: 'One' })")

    for (const options of ['{}', "{ lastEventId: 'tasks=x' }"])
      expect(await evaluate(open(options))).toMatchObject({ taskCount: 1 })
    expect(
      await evaluate(
        `new Promise((done) => Object.assign(${source}, { onmessage: ({ data }) => done(JSON.parse(data)) }))`,
      ),
    ).toMatchObject({ topic: 'tasks', state: { taskCount: 1 } })
  })
})

describe('a page of a trusted origin on another site', () => {
  test('calls with an access token, because the browser does not store the cookie', async () => {
    const evaluate = await openPage(pages.foreign)
    const app = await registerApp(service)
    const { access_token } = await app.obtainTokens(await service.signIn(newEmail()))
    const headers = JSON.stringify({ authorization: `Bearer ${access_token}` })

    await signIn(evaluate)

    expect(await evaluate(failure('client.tasks.list()'))).not.toBe('answered')
    expect(
      await evaluate(`(await fetch('${baseUrl}/api/tasks', { headers: ${headers} })).json()`),
    ).toMatchObject({ taskCount: 0 })
  })
})

describe('a page of an origin that is not trusted', () => {
  test('can neither read an answer nor change data', async () => {
    const evaluate = await openPage(otherPages.origin)

    expect(await evaluate(failure(`fetch('${baseUrl}/api/counter')`))).toBe('TypeError')
    expect(await evaluate(failure('client.counter.increment()'))).toBe('TypeError')
    expect(await createFetch(service)('GET', '/api/counter')).toMatchObject({ body: { count: 0 } })
  })

  test('reads the answers of the token endpoint, also an error', async () => {
    const { id } = await registerApp(service)
    const evaluate = await openPage(otherPages.origin)
    const post = (fields: Record<string, string>) =>
      evaluate(
        `(await fetch('${baseUrl}/token', { method: 'POST', body: new URLSearchParams(${JSON.stringify(fields)}) })).json()`,
      )

    expect(await post({ client_id: id })).toMatchObject({ error: 'invalid_request' })
    expect(await post({ client_id: id, grant_type: 'refresh_token', refresh_token: 'x' })).toMatchObject({
      error: 'invalid_grant',
    })
  })
})
