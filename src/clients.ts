import { get } from 'node:https'
import { RequestFilteringHttpsAgent } from 'request-filtering-agent'
import { v7 } from 'uuid'
import { z } from 'zod'

import { text } from '../contract/base.ts'
import type { Database } from '../db/index.ts'
import { findClient, insertClient } from '../db/oauth.ts'
import type { Settings } from './settings.ts'

/** An app that asks people to let it in, and where it may be answered. Public: it has no secret of its own. */
export interface Client {
  id: string
  name: string
  redirectUris: string[]
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Where an app may be answered: https, itself on this machine, or a scheme of its own (RFC 8252). */
export function isRedirectUri(uri: string) {
  if (!URL.canParse(uri) || uri.includes('#')) return false
  const { protocol, hostname, username, host } = new URL(uri)
  // What stands in a policy must not end it.
  if (username !== '' || /[^\w.:[\]-]/.test(host)) return false
  const own = /^[a-z][a-z\d+-]*(\.[a-z\d+-]+)+:$/.test(protocol)
  return protocol === 'https:' || own || (protocol === 'http:' && LOOPBACK.includes(hostname))
}

const RedirectUri = text({ min: 1, max: 2000 }).refine(
  isRedirectUri,
  'Must be https, loopback http, or a private scheme, without a fragment',
)

/** What an app says of itself (RFC 7591). */
export const Registration = z.object({
  client_name: text({ min: 1, max: 120 }).default('An app'),
  redirect_uris: z.array(RedirectUri).min(1).max(10),
  token_endpoint_auth_method: z.literal('none').default('none'),
})

const Described = Registration.extend({ client_id: z.string() })

/** Exactly as registered; on this machine any port will do. */
export function allowsRedirect({ redirectUris }: Client, uri: string) {
  return (
    URL.canParse(uri) &&
    redirectUris.some((known) => known === uri || withoutPort(known) === withoutPort(uri))
  )
}

function withoutPort(uri: string) {
  const url = new URL(uri)
  if (url.protocol !== 'http:' || !LOOPBACK.includes(url.hostname)) return uri
  url.port = ''
  return url.href
}

export const register = async (
  db: Database,
  { client_name, redirect_uris }: z.infer<typeof Registration>,
) => {
  const client = { id: v7(), name: client_name, redirectUris: redirect_uris }
  await insertClient(db, client)
  return client
}

/** An app by its id: known by settings, by registration, or by the document that stands at its id. */
export async function findApp(db: Database, settings: Settings, id: string): Promise<Client | undefined> {
  const known = settings.oauthClients.filter((entry) => entry.slice(0, entry.indexOf('=')) === id)
  if (known.length > 0)
    return { id, name: id, redirectUris: known.map((entry) => entry.slice(id.length + 1)) }
  if (id.startsWith('https://')) return describe(id, settings.production)
  return findClient(db, id)
}

const PATIENCE = 5_000
const MAX_DOCUMENT = 10 * 1024

/** Reads the document that a client id points to. In production never from a private address, whatever a name resolves to. */
async function describe(id: string, production: boolean): Promise<Client | undefined> {
  const agent = new RequestFilteringHttpsAgent({ allowPrivateIPAddress: !production })
  try {
    const { client_id, client_name, redirect_uris } = Described.parse(JSON.parse(await read(id, agent)))
    return client_id === id ? { id, name: client_name, redirectUris: redirect_uris } : undefined
  } catch {
    return undefined
  } finally {
    agent.destroy()
  }
}

const read = (url: string, agent: RequestFilteringHttpsAgent) =>
  new Promise<string>((resolve, reject) => {
    const request = get(url, {
      agent,
      signal: AbortSignal.timeout(PATIENCE),
      headers: { accept: 'application/json' },
    })
    const fail = (problem: string) => {
      reject(new Error(problem))
      request.destroy()
    }
    request.on('error', reject)
    request.on('response', (response) => {
      let body = ''
      if (response.statusCode !== 200) fail('There is no document')
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
        if (body.length > MAX_DOCUMENT) fail('The document is too large')
      })
      response.on('end', () => {
        resolve(body)
      })
      response.on('error', reject)
    })
  })
