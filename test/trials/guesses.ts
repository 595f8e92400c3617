import { Agent } from 'node:http'

import { rateLimits } from '../../engine/app/rate-limits.ts'
import { forEachConcurrently } from './concurrency.ts'
import { type HttpResponse, sendRequest } from './http-client.ts'
import { createTemporaryFolder, readCode, signIn, startService } from './service-process.ts'
import { startDurablePostgres, trial } from './trial.ts'

/** Total number of guesses. Each request comes from a new IP address. */
const GUESSES = 5000
const CONCURRENCY = 64
/** Maximum number of comparisons for one code in better-auth: see engine/identity/better-auth.ts. */
const ATTEMPTS_PER_CODE = 3
/** People who sign in during the second phase. */
const OTHERS = Array.from({ length: 10 }, (_, index) => `guest${index}@example.com`)

const EMAIL = 'ada@example.com'

await trial('guesses', async (report) => {
  const { url } = await startDurablePostgres()
  const settings = {
    DATABASE_URL: url,
    TRUSTED_PROXIES: '127.0.0.1',
    AUTH_SECRET: 'a secret of the trial, of no use elsewhere',
    DATA_DIR: await createTemporaryFolder(),
  }
  const [one, two] = [await startService(settings), await startService(settings)]
  const agent = new Agent({ keepAlive: true })
  let requests = 0
  /** Sends a request with a new IP address. The requests alternate between the two instances. */
  const send = (operation: string, body: object) => {
    const address = `10.${requests >> 16}.${(requests >> 8) & 255}.${requests & 255}`
    const { origin } = requests++ % 2 ? one : two
    const path = `/api/auth/${operation}`
    return sendRequest(agent, origin, { method: 'POST', path, headers: { 'x-forwarded-for': address }, body })
  }
  const sendCode = () => send('email-otp/send-verification-otp', { email: EMAIL, type: 'sign-in' })
  const guess = (code: number) =>
    send('sign-in/email-otp', { email: EMAIL, otp: String(code % 1_000_000).padStart(6, '0') })
  const cookie = await signIn(one.origin, EMAIL, one.dataDir)
  const guesses: HttpResponse[] = []

  // First phase: requests codes until the service refuses to send another code. For each code, submits three wrong
  // guesses and then the correct code, which the service must refuse.
  let codes = 0
  let code = 0
  for (; (await sendCode()).status === 200; codes++) {
    code = Number(await readCode(EMAIL, one.dataDir))
    for (const candidate of [code + 1, code + 2, code + 3, code]) guesses.push(await guess(candidate))
  }
  // Second phase: concurrent guesses while other people sign in.
  const remainingGuesses = forEachConcurrently(
    CONCURRENCY,
    Array(GUESSES - guesses.length).keys(),
    async (index) => {
      guesses.push(await guess(code + index))
    },
  )
  for (const [index, other] of OTHERS.entries())
    await signIn(two.origin, other, two.dataDir, { 'x-forwarded-for': `198.51.100.${index}` })
  await remainingGuesses

  const compared = guesses.filter(({ body }) => body.includes('INVALID_OTP'))
  const admitted = guesses.filter(({ status }) => status !== 429)
  const refused = guesses.filter(
    ({ status, headers }) => status === 429 && Number(headers['retry-after']) > 0,
  )
  const me = await sendRequest(agent, one.origin, { method: 'GET', path: '/api/me', headers: { cookie } })
  agent.destroy()
  report({
    guesses: guesses.length,
    addresses: requests,
    'codes sent': codes,
    admitted: admitted.length,
    compared: compared.length,
    'refused with Retry-After': refused.length,
    'others signed in': OTHERS.length,
  })
  if (admitted.length > rateLimits.tries.points) throw new Error('Too many guesses were admitted')
  if (compared.length > ATTEMPTS_PER_CODE * codes) throw new Error('A code was compared too often')
  if (codes > rateLimits.codes.points) throw new Error('Too many codes were sent')
  if (admitted.length + refused.length < guesses.length)
    throw new Error('Not all other guesses were refused with Retry-After')
  if (guesses.some(({ status }) => status === 200)) throw new Error('A guess signed in')
  if (me.status !== 200) throw new Error('The existing session is no longer valid')
})
