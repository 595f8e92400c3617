import { eq } from 'drizzle-orm'
import { type Scope, scopes } from 'tallystick-contract/internal'
import { describe, expect, test } from 'vitest'

import type { Endpoint, EndpointAccess, Endpoints } from 'tallystick/internal/app/endpoint'
import { users } from 'tallystick/internal/db/accounts/users'
import { impersonateAda } from './errors.ts'
import type { Running } from './running.ts'
import { createScene, type Scene, type Worlds } from './worlds.ts'

/** An endpoint that checks its callers. */
type GuardedEndpoint = Endpoint & { access: EndpointAccess }

const JSON_TYPE = 'application/json'
/** The headers that a browser adds to a request of the service's own page. */
const ownPage = { 'sec-fetch-site': 'same-origin' }

/** Lists the endpoints with access, by their names. */
const guardedEndpoints = (endpoints: Endpoints) =>
  Object.entries(endpoints).filter(
    (entry): entry is [string, GuardedEndpoint] => entry[1].access !== undefined,
  )

/** Returns a media type that the endpoint accepts. Prefers another type than JSON, because browsers send such a type to other sites. */
function mediaTypeOf({ body, types }: Pick<Endpoint, 'body' | 'types'>) {
  if (body === 'form') return 'application/x-www-form-urlencoded'
  const type = types?.find((each) => each !== JSON_TYPE) ?? types?.[0] ?? 'text/plain'
  return type.replace('*', 'x-any')
}

/** Sends a request to an endpoint. Returns the code of the refusal, and whether the handler ran. */
async function send(
  { origin, takeRuns }: Pick<Running, 'origin' | 'takeRuns'>,
  name: string,
  endpoint: Endpoint,
  headers: Record<string, string>,
) {
  const { method, path, body } = endpoint
  const response = await fetch(origin + path.replace(/\{\w+\}/g, crypto.randomUUID()), {
    method,
    headers: { ...(body && { 'content-type': mediaTypeOf(endpoint) }), ...headers },
    ...(body && { body: 'a' }),
  })
  const answer = await response.text()
  const { code } = (response.status >= 400 ? JSON.parse(answer) : {}) as { code?: string }
  return { code, hasRun: takeRuns().includes(name) }
}

/** A caller whom an endpoint must refuse. */
interface RefusedCaller {
  code: string
  /** Whether the endpoint must refuse the caller. By default, each endpoint with access must. */
  applies?: (endpoint: GuardedEndpoint) => boolean
  /** Removes from Ada what the endpoint needs: before, the endpoint accepts Ada. Returns the headers of the request. */
  headers: (scene: Scene) => Promise<Record<string, string>>
}

/** Calls an operation of administrators. */
async function administrate({ running, administrator }: Scene, operation: string, input: object) {
  const { status } = await fetch(`${running.origin}/api/auth/admin/${operation}`, {
    method: 'POST',
    headers: { ...ownPage, 'content-type': JSON_TYPE, cookie: administrator.cookie },
    body: JSON.stringify(input),
  })
  if (status !== 200) throw new Error(`${operation} answered with the status ${status}`)
}

async function bearerWith({ people }: Scene, granted: Scope) {
  const { token } = await people.ada.tokens.create({ label: 'Law', scopes: [granted] })
  return { authorization: `Bearer ${token}` }
}

const withCookieOf = ({ cookie }: { cookie: string }) => ({ ...ownPage, cookie })

/** The callers whom the endpoints of every application refuse. */
export const refusedCallers: Readonly<Record<string, RefusedCaller>> = {
  'without credentials': { code: 'UNAUTHORIZED', headers: () => Promise.resolve(ownPage) },
  'whose session was revoked': {
    code: 'UNAUTHORIZED',
    async headers({ running, ada }) {
      const other = running.client({ cookie: await running.signIn(ada.email) })
      for (const { token, isCurrent } of (await other.sessions.list()).sessions)
        if (!isCurrent) await other.sessions.revoke({ revokeSessionToken: token })
      return withCookieOf(ada)
    },
  },
  'whose account is banned': {
    code: 'UNAUTHORIZED',
    async headers(scene) {
      await administrate(scene, 'ban-user', { userId: scene.ada.id })
      return withCookieOf(scene.ada)
    },
  },
  'during an impersonation, if the endpoint is sensitive': {
    code: 'FORBIDDEN',
    applies: ({ access }) => access.sensitive === true,
    async headers(scene) {
      await impersonateAda(scene)
      return withCookieOf(scene.ada)
    },
  },
  'without the role': {
    code: 'FORBIDDEN',
    applies: ({ access }) => access.role !== undefined,
    headers: ({ bob }) => Promise.resolve(withCookieOf(bob)),
  },
  ...Object.fromEntries(
    scopes.map((scope): [string, RefusedCaller] => [
      `with a token that has only the scope ${scope}`,
      {
        code: 'INSUFFICIENT_SCOPE',
        applies: ({ access }) => access.scope !== scope,
        headers: (scene) => bearerWith(scene, scope),
      },
    ]),
  ),
  'with a cookie and a body other than JSON, from an unknown page': {
    code: 'FORBIDDEN',
    applies: ({ method, ...endpoint }) => method !== 'GET' && mediaTypeOf(endpoint) !== JSON_TYPE,
    headers: ({ ada }) => Promise.resolve({ cookie: ada.cookie }),
  },
}

/** Restores the rows, and gives Ada the role that the endpoint needs. */
async function prepareCaller(worlds: Worlds, { access: { role } }: GuardedEndpoint) {
  const scene = await createScene(worlds)
  const { running, ada } = scene
  if (role) await running.services.db.update(users).set({ role }).where(eq(users.id, ada.id))
  return scene
}

/** Lists the endpoints that refuse a caller with the declared role and scope. Other refusals of these endpoints prove nothing. */
export async function listRefusing(worlds: Worlds, endpoints: Endpoints) {
  const names: string[] = []
  for (const [name, endpoint] of guardedEndpoints(endpoints)) {
    const scene = await prepareCaller(worlds, endpoint)
    const { scope } = endpoint.access
    const callers = [withCookieOf(scene.ada), ...(scope ? [await bearerWith(scene, scope)] : [])]
    for (const headers of callers)
      if (!(await send(scene.running, name, endpoint, headers)).hasRun) names.push(name)
  }
  return names
}

/** Lists the endpoints that do not refuse a caller with the code, or whose handlers run. */
export async function listAccepting(
  worlds: Worlds,
  endpoints: Endpoints,
  { code, applies = () => true, headers }: RefusedCaller,
) {
  const names: string[] = []
  for (const [name, endpoint] of guardedEndpoints(endpoints).filter(([, each]) => applies(each))) {
    const scene = await prepareCaller(worlds, endpoint)
    // Caches the session in the service, which must not decide by the cached session.
    await send(scene.running, name, endpoint, withCookieOf(scene.ada))
    const answer = await send(scene.running, name, endpoint, await headers(scene))
    if (answer.code !== code || answer.hasRun) names.push(name)
  }
  return names
}

/** Defines the laws of the endpoints with access. Their cases follow from the declarations. */
export function defineLawsOfEndpoints(endpoints: Endpoints, getWorlds: () => Worlds) {
  const guarded = guardedEndpoints(endpoints)
  if (guarded.length === 0) return
  describe('an endpoint with access', () => {
    test('accepts a caller with the role and the scope that it declares', async () => {
      expect(await listRefusing(getWorlds(), endpoints)).toEqual([])
    })

    const needed = Object.entries(refusedCallers).filter(([, { applies }]) =>
      guarded.some(([, endpoint]) => applies?.(endpoint) ?? true),
    )
    test.each(needed)('refuses a caller %s', async (_, refusal) => {
      expect(await listAccepting(getWorlds(), endpoints, refusal)).toEqual([])
    })
  })
}
