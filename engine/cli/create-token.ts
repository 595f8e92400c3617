import { createInterface } from 'node:readline/promises'
import type { InferContractRouterInputs } from '@orpc/contract'
import { createRpcClient, type EngineContract } from 'tallystick-contract/internal'

type NewToken = InferContractRouterInputs<EngineContract>['tokens']['create']

/**
 * Creates a personal token. The person signs in with a code by e-mail for this one call, because the stored tokens of
 * the command line cannot create tokens. Returns the token.
 */
export async function createToken(origin: string, input: NewToken) {
  // Questions go to standard error, so that standard output has only the token.
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const lines = terminal[Symbol.asyncIterator]()
    // `terminal.question` would lose lines that arrive before the question, for example from a pipe.
    const ask = async (question: string) => {
      process.stderr.write(question)
      const { value, done } = (await lines.next()) as IteratorResult<string, undefined>
      if (done) throw new Error('The input ended before the sign-in')
      return value.trim()
    }
    const email = await ask('E-mail: ')
    await post(origin, '/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const otp = await ask(`Code in the e-mail to ${email}: `)
    const signedIn = await post(origin, '/sign-in/email-otp', { email, otp })
    const cookie = signedIn.headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; ')
    try {
      const { token } = await createRpcClient<EngineContract>(origin, { headers: { cookie } }).tokens.create(
        input,
      )
      return token
    } finally {
      // An error of the sign-out must not hide the token. The session also expires.
      await post(origin, '/sign-out', {}, { cookie }).catch(() => undefined)
    }
  } finally {
    terminal.close()
  }
}

/** Calls an endpoint of better-auth. Throws an error with the message of the answer if the service refuses the call. */
async function post(origin: string, path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${origin}/api/auth${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (response.ok) return response
  const { message } = (await response.json()) as { message?: string }
  throw new Error(message ?? `The service answered ${response.status}`)
}
