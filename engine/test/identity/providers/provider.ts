import { OAuth2Server } from 'oauth2-mock-server'
import { onTestFinished } from 'vitest'

/** What the provider says about the person who signs in. */
export type Claims = Record<string, unknown>

export const redirectOf = (response: Response) => response.headers.get('location') ?? ''

/** Starts a provider of OpenID Connect on this machine. Every sign-in has the claims of `person`. */
export async function startProvider(port = 0) {
  const server = new OAuth2Server()
  await server.issuer.keys.generate('RS256')
  await server.start(port, '127.0.0.1')
  const issuer = `http://127.0.0.1:${server.address().port}`
  server.issuer.url = issuer
  const provider = {
    server,
    issuer,
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
    person: {} as Claims,
    stop: () => server.stop(),
  }
  server.service.on('beforeTokenSigning', ({ payload }: { payload: Claims }) => {
    Object.assign(payload, provider.person)
  })
  return provider
}

export type Provider = Awaited<ReturnType<typeof startProvider>>

/** Changes each answer of a provider, until the end of the test. */
export function changeAnswers({ server }: Provider, listener: (answer: { body: Claims }) => void) {
  server.service.on('beforeResponse', listener)
  onTestFinished(() => void server.service.off('beforeResponse', listener))
}

/** A browser: keeps cookies, and follows no redirect by itself. */
export function createBrowser(origin: string, cookies = new Map<string, string>()) {
  async function send(
    address: string,
    { headers, ...init }: { method?: string; body?: string; headers?: Record<string, string> } = {},
  ) {
    const cookie = Array.from(cookies, (pair) => pair.join('=')).join('; ')
    const response = await fetch(new URL(address, origin), {
      redirect: 'manual',
      ...init,
      headers: { ...(cookie && { cookie, 'sec-fetch-site': 'same-origin' }), ...headers },
    })
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
      if (/max-age=0/i.test(header)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }
  const post = (path: string, body: object, headers = {}) =>
    send(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })

  /** Begins at the service. Returns the address of the provider. */
  async function begin(
    input: { provider?: string; callbackURL?: string } = {},
    path = '/api/auth/sign-in/social',
  ) {
    const started = await post(path, { provider: 'acme', callbackURL: '/', ...input })
    const answer = (await started.json()) as { url?: string }
    if (answer.url === undefined) throw new Error(JSON.stringify(answer))
    return answer.url
  }
  /** Opens the address of a provider, which sends the browser back. Returns the address for the service. */
  const visit = async (url: string) => redirectOf(await fetch(url, { redirect: 'manual' }))

  return {
    cookies,
    send,
    post,
    begin,
    visit,
    /** Signs in by the provider. Returns where the browser is in the end. */
    signIn: async (input?: { provider?: string; callbackURL?: string }, path?: string) =>
      redirectOf(await send(await visit(await begin(input, path)))),
    me: async () => (await send('/api/me')).json() as Promise<Record<string, unknown>>,
    /** Signs in with a code. */
    enter: (cookie: string) => {
      for (const [name = '', value = ''] of cookie.split('; ').map((pair) => pair.split(/=(.*)/s)))
        cookies.set(name, value)
    },
  }
}
