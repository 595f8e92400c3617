import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'

import { app } from '../src/app.ts'

const DAY = 86_400_000
let time = new Date()
const service = await createTallystick(app, { ADMIN_EMAILS: 'root@example.com' }, { now: () => time })
const origin = await service.listen()

/** A receiver. The tests choose its answers. */
const received: { headers: IncomingMessage['headers']; body: string }[] = []
let answer: { status: number; headers?: Record<string, string> } = { status: 204 }
/** What happens before the answer. */
let meanwhile: () => Promise<unknown> = () => Promise.resolve()
const receiver = createServer((request, response) => {
  void buffer(request).then(async (body) => {
    received.push({ headers: request.headers, body: body.toString() })
    await meanwhile()
    const { status, headers } = answer
    response.writeHead(status, headers).end('x'.repeat(100_000))
  })
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const { port } = receiver.address() as AddressInfo
const local = `http://127.0.0.1:${port}/tickets`

afterAll(async () => {
  receiver.close()
  await service.close()
})
beforeEach(() => {
  vi.stubEnv('WEBHOOKS_TO_PRIVATE_ADDRESSES', 'on')
  received.length = 0
  answer = { status: 204 }
  meanwhile = () => Promise.resolve()
})

/** Runs the jobs that are due within some days. */
const runDue = async (days: number) => {
  const attempts = await service.runDueJobs({
    until: new Date(Date.now() + days * DAY),
  })
  return attempts.filter(({ name }) => name === 'dispatch')
}

/** Ada has a webhook, and a ticket. */
async function prepare(url = local) {
  const email = `${crypto.randomUUID()}@example.com`
  const ada = await service.person(email)
  const { id: projectId } = await ada.projects.create({ title: 'Bridge' })
  const webhook = await ada.webhooks.create({
    projectId,
    title: 'Our chat',
    url,
  })
  const ticket = await ada.tickets.create({ projectId, title: 'The lamp' })
  const { secret } = await ada.webhooks.secret({ id: webhook.id })
  return {
    ada,
    email,
    webhook,
    ticket,
    secret,
    open: () => ada.tickets.move({ id: ticket.id, status: 'open' }),
  }
}

/** Signs in as an administrator who impersonates a person. */
async function impersonate(userId: string) {
  const answer = await fetch(`${origin}/api/auth/admin/impersonate-user`, {
    method: 'POST',
    headers: { cookie: await service.signIn('root@example.com'), 'content-type': 'application/json' },
    body: JSON.stringify({ userId }),
  })
  const cookies = answer.headers.getSetCookie().map((cookie) => cookie.replace(/;.*/s, ''))
  return service.client({ cookie: cookies.join('; ') })
}

test('a ticket that moves is delivered with a signature, and again after an error, with the same id', async () => {
  const { open, ticket, secret } = await prepare()
  await open()
  answer = { status: 500 }
  expect(await runDue(0.00001)).toMatchObject([{ outcome: 'failed' }])
  answer = { status: 204 }

  expect(await runDue(1)).toMatchObject([{ outcome: 'completed' }])

  const [first, second] = received
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  const headers = Object.fromEntries(
    Object.entries(second?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  )
  expect(new Webhook(secret).verify(second?.body ?? '', headers)).toMatchObject({
    type: 'ticket.moved',
    data: { id: ticket.id, status: 'open' },
  })
})

test('a refused move is not delivered', async () => {
  const { ada, ticket } = await prepare()

  await expect(ada.tickets.move({ id: ticket.id, status: 'waiting' })).rejects.toMatchObject({
    code: 'NOT_ALLOWED',
  })

  expect(await runDue(1)).toEqual([])
})

test('a redirect is not followed', async () => {
  const { open } = await prepare()
  answer = { status: 307, headers: { location: `${local}/elsewhere` } }
  await open()

  const [attempt] = await runDue(0.00001)

  expect(attempt).toMatchObject({
    error: { message: 'The receiver answered with the status 307' },
  })
  expect(received).toHaveLength(1)
  answer = { status: 204 }
  await runDue(1)
})

test('a receiver that switches to another protocol has failed', async () => {
  const { open } = await prepare()
  answer = { status: 101, headers: { connection: 'upgrade', upgrade: 'chat' } }
  await open()

  const [attempt] = await runDue(0.00001)

  expect(attempt).toMatchObject({ error: { cause: { message: 'The receiver did not answer' } } })
  answer = { status: 204 }
  await runDue(1)
})

test.each([
  '127.0.0.1',
  'localhost',
  '[::1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::10.0.0.1]',
  '[4000::1]',
  '[8000::1]',
  '168.63.129.16',
  '[64:ff9b::127.0.0.1]',
  '0.0.0.0',
  '2130706433',
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '192.168.0.1',
  '[fd00::1]',
])('the address %s is refused when the service connects', async (host) => {
  vi.stubEnv('WEBHOOKS_TO_PRIVATE_ADDRESSES', undefined)
  const { ada, webhook, open } = await prepare(`http://${host}:${port}/tickets`)
  await open()

  const [attempt] = await runDue(0.00001)

  expect(attempt).toMatchObject({
    outcome: 'failed',
    error: { message: expect.stringContaining('not allowed') as string },
  })
  expect(received).toEqual([])
  await ada.webhooks.delete({ id: webhook.id })
  await runDue(1)
})

test('a webhook that fails for three days is disabled, and its owner gets one e-mail', async () => {
  const { ada, email, webhook, open } = await prepare()
  answer = { status: 500 }
  await open()
  const letters = () =>
    service.letters.filter(({ to, subject }) => to === email && subject.includes('Our chat'))

  await runDue(0.00001)
  time = new Date(time.getTime() + 2.9 * DAY)
  await runDue(0.01)
  expect(await ada.webhooks.get({ id: webhook.id })).toMatchObject({
    isDisabled: false,
  })
  time = new Date(time.getTime() + 0.2 * DAY)
  await runDue(10)

  expect(await ada.webhooks.get({ id: webhook.id })).toMatchObject({
    isDisabled: true,
  })
  expect(letters()).toHaveLength(1)
  expect(await ada.webhooks.update({ id: webhook.id, url: local })).toMatchObject({ isDisabled: false })
})

test('a delivery that fails does not disable a URL that is new in the meantime', async () => {
  const { ada, webhook, open } = await prepare()
  answer = { status: 500 }
  await open()
  await runDue(0.00001)
  time = new Date(time.getTime() + 3.1 * DAY)
  meanwhile = () => ada.webhooks.update({ id: webhook.id, url: `${local}/new` })

  await runDue(0.01)

  expect(await ada.webhooks.get({ id: webhook.id })).toMatchObject({ isDisabled: false })
  answer = { status: 204 }
  await runDue(1)
})

test('only people who may change a webhook see its URL and its secret', async () => {
  const { ada, webhook } = await prepare()
  const email = `${crypto.randomUUID()}@example.com`
  await ada.projects.invite({ id: webhook.projectId, email, role: 'viewer' })
  const bob = await service.person(email)

  expect(await bob.webhooks.get({ id: webhook.id })).toMatchObject({
    url: null,
  })
  await expect(bob.webhooks.secret({ id: webhook.id })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  })
  await expect(ada.webhooks.update({ id: webhook.id, url: 'file:///etc/passwd' })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
  })
})

test('an administrator who impersonates a person sees the webhooks, but adds and changes none', async () => {
  const { ada, webhook } = await prepare()
  const { id, projectId } = webhook
  const { id: adaId } = await ada.account.get()
  const root = await impersonate(adaId)

  expect(await root.account.get()).toMatchObject({ id: adaId })
  expect(await root.webhooks.get({ id })).toMatchObject({ url: local })
  const refused = { status: 403 }
  await expect(root.webhooks.create({ projectId, title: 'Root', url: local })).rejects.toMatchObject(refused)
  await expect(root.webhooks.update({ id, url: `${local}/root` })).rejects.toMatchObject(refused)
  await expect(root.webhooks.secret({ id })).rejects.toMatchObject(refused)

  expect(await ada.webhooks.list({ projectId })).toMatchObject({ webhooks: [{ id, url: local }] })
})
