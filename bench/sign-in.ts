import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { z } from 'zod'

import { SIGN_IN_CODE } from './environment.ts'

/** Starts a mail server that keeps the last sign-in code of each address. */
export async function startMailbox() {
  const codes = new Map<string, string>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, { envelope }, done) => {
      text(stream).then((letter) => {
        const code = /^Subject: (\d{6})/m.exec(letter)?.[1] ?? ''
        for (const { address } of envelope.rcptTo) codes.set(address, code)
        done()
      }, done)
    },
  })
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const url = `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`
  /** Returns the last code, and deletes the code. */
  const takeCode = (email: string) => {
    const code = codes.get(email)
    codes.delete(email)
    return code
  }
  return { url, takeCode }
}
export type Mailbox = Awaited<ReturnType<typeof startMailbox>>

/**
 * Signs in at a server by its own endpoints. Reason: the work of a sign-in can make all later requests of the process
 * slower. Returns the session cookie.
 */
export async function signIn(origin: string, email: string, mailbox: Mailbox) {
  const post = (path: string, body: object) =>
    fetch(origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify(body),
    })
  // The lean peers have no such endpoint.
  await post('/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
  const otp = mailbox.takeCode(email) ?? SIGN_IN_CODE
  const response = await post('/api/auth/sign-in/email-otp', { email, otp })
  const cookie = response.headers.getSetCookie()[0]?.split(';', 1)[0]
  if (!response.ok || cookie === undefined)
    throw new Error(`${origin}: the sign-in of ${email} was refused: ${await response.text()}`)
  return cookie
}

const REDIRECT = 'http://127.0.0.1:9/callback'
const Registered = z.object({ client_id: z.string() })
const Tokens = z.object({ access_token: z.string() })

export async function registerApp(origin: string) {
  const response = await fetch(`${origin}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Benchmark', redirect_uris: [REDIRECT] }),
  })
  return Registered.parse(await response.json()).client_id
}

/** Authorizes an app with the cookie of a person. Returns an access token, which is valid for 10 minutes. */
export async function authorize(origin: string, clientId: string, cookie: string, resource: string) {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'read write',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource,
  })
  const allowed = await fetch(`${origin}/authorize?${query.toString()}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie },
    body: new URLSearchParams({ action: 'allow' }),
  })
  const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? ''
  const response = await fetch(`${origin}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: REDIRECT,
      code,
      code_verifier: verifier,
      resource,
    }),
  })
  return Tokens.parse(await response.json()).access_token
}
