import { Agent } from 'node:http'

import { limits } from '../../src/settings.ts'
import { sendRequest, type HttpResponse } from './http-client.ts'
import { forEachConcurrently } from './concurrency.ts'
import { createTemporaryFolder, readCode, signIn, startService } from './service-process.ts'
import { startDurablePostgres, trial } from './trial.ts'

/** In all, each from an address that nobody had before. */
const GUESSES = 5000
const LANES = 64
/** What better-auth compares with one code: src/identity/auth.ts. */
const TRIES_A_CODE = 3
/** Who sign in meanwhile. */
const OTHERS = Array.from({ length: 10 }, (_, index) => `guest${index}@example.com`)

const EMAIL = 'ada@example.com'

await trial('guesses', async (tell) => {
  const { url } = await startDurablePostgres()
  const settings = {
    DATABASE_URL: url,
    TRUSTED_PROXIES: '127.0.0.1',
    AUTH_SECRET: 'a secret of the trial, of no use elsewhere',
    DATA_DIR: await createTemporaryFolder(),
  }
  const [one, two] = [await startService(settings), await startService(settings)]
  const agent = new Agent({ keepAlive: true })
  let asked = 0
  /** Of either instance in turn. */
  const ask = (operation: string, body: object) => {
    const address = `10.${asked >> 16}.${(asked >> 8) & 255}.${asked & 255}`
    const { origin } = asked++ % 2 ? one : two
    const path = `/api/auth/${operation}`
    return sendRequest(agent, origin, { method: 'POST', path, headers: { 'x-forwarded-for': address }, body })
  }
  const sendCode = () => ask('email-otp/send-verification-otp', { email: EMAIL, type: 'sign-in' })
  const guess = (code: number) =>
    ask('sign-in/email-otp', { email: EMAIL, otp: String(code % 1_000_000).padStart(6, '0') })
  const cookie = await signIn(one.origin, EMAIL, one.dataDir)
  const guesses: HttpResponse[] = []

  // All that can be had: for each code as many tries as it bears, then even the right one, then the next code.
  let codes = 0
  let code = 0
  for (; (await sendCode()).status === 200; codes++) {
    code = Number(await readCode(EMAIL, one.dataDir))
    for (const next of [code + 1, code + 2, code + 3, code]) guesses.push(await guess(next))
  }
  // Then as fast as can be, while others sign in.
  const flood = forEachConcurrently(LANES, Array(GUESSES - guesses.length).keys(), async (index) => {
    guesses.push(await guess(code + index))
  })
  for (const [index, other] of OTHERS.entries())
    await signIn(two.origin, other, two.dataDir, { 'x-forwarded-for': `198.51.100.${index}` })
  await flood

  const compared = guesses.filter(({ body }) => body.includes('INVALID_OTP'))
  const passed = guesses.filter(({ status }) => status !== 429)
  const refused = guesses.filter(
    ({ status, headers }) => status === 429 && Number(headers['retry-after']) > 0,
  )
  const me = await sendRequest(agent, one.origin, { method: 'GET', path: '/api/me', headers: { cookie } })
  agent.destroy()
  tell({
    guesses: guesses.length,
    addresses: asked,
    'codes sent': codes,
    'let through': passed.length,
    compared: compared.length,
    'refused with Retry-After': refused.length,
    'others signed in': OTHERS.length,
  })
  if (passed.length > limits.tries.points) throw new Error('Too many were let through')
  if (compared.length > TRIES_A_CODE * codes) throw new Error('A code was tried too often')
  if (codes > limits.codes.points) throw new Error('Too many codes were sent')
  if (passed.length + refused.length < guesses.length)
    throw new Error('Not all others were refused with Retry-After')
  if (guesses.some(({ status }) => status === 200)) throw new Error('A guess let somebody in')
  if (me.status !== 200) throw new Error('Who was signed in no longer is')
})
