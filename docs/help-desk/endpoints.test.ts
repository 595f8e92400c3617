import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'

import { app } from '../src/app.ts'

const secret = process.env.PAYMENTS_SECRET ?? ''
const service = await createTallystick(app)
const origin = await service.listen()
afterAll(() => service.close())

async function deliver(name: string, body: string, headers: Record<string, string>) {
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } }
  return (await fetch(`${origin}/api/hooks/${name}`, init)).status
}

/** Signs a payment as another service does. */
function sign(body: string, age = 0) {
  const time = Math.floor(Date.now() / 1000) - age
  const digest = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  return { 'payment-signature': `t=${time},v1=${digest}` }
}

test('a payment is stored once, although it arrives twice', async () => {
  const body = '{"id":"p1","amount":1.0}'

  const statuses = await Promise.all([1, 2].map(() => deliver('payments', body, sign(body))))

  expect(statuses.sort()).toEqual([200, 201])
})

test('a payment with a wrong, a foreign or an old signature is refused', async () => {
  const body = '{"id":"p2","amount":1.0}'

  expect(await deliver('payments', body, {})).toBe(401)
  expect(await deliver('payments', body, sign('{"id":"p2","amount":1}'))).toBe(401)
  expect(await deliver('payments', body, sign(body, 301))).toBe(401)
  expect(await deliver('payments', body, sign(body, 290))).toBe(201)
})

/** Signs a letter as Standard Webhooks describes. */
function signLetter(body: string) {
  const now = new Date()
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(now.getTime() / 1000)) }
  return { ...headers, 'webhook-signature': new Webhook(secret).sign('msg_1', now, body) }
}

test('a letter is stored once, and only with its signature', async () => {
  const body = '{"subject":"Hello"}'
  const signed = signLetter(body)

  expect(await deliver('letters', body, { ...signed, 'webhook-signature': '' })).toBe(401)
  expect(await deliver('letters', `${body} `, signed)).toBe(401)
  expect(await deliver('letters', body, signed)).toBe(201)
  expect(await deliver('letters', body, signed)).toBe(200)
})

test.each(['no JSON', '"no object"', '{"id":7}'])(
  'a signed body that is no delivery is refused: %s',
  async (body) => {
    expect(await deliver('payments', body, sign(body))).toBe(400)
  },
)

test('a signed letter that is no JSON is refused', async () => {
  expect(await deliver('letters', 'no JSON', signLetter('no JSON'))).toBe(400)
})

test.each([
  [undefined, 'LETTERS_SECRET is not set. Write it to .env.local'],
  ['whsec_abc', 'LETTERS_SECRET is not in base64.'],
])('the service does not start with the secret %s of an endpoint', async (value, message) => {
  vi.stubEnv('LETTERS_SECRET', value)
  onTestFinished(() => void vi.unstubAllEnvs())

  await expect(service.listen()).rejects.toThrow(message)
})
