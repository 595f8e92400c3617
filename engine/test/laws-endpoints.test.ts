import { endpoint } from 'tallystick'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'

import type { Endpoint, Endpoints } from '../app/endpoint.ts'
import {
  defineLawsOfEndpoints,
  listAccepting,
  listRefusing,
  refusedCallers,
} from '../dev/testing/laws/endpoints.ts'
import { start } from '../dev/testing/laws/running.ts'
import { createWorlds } from '../dev/testing/laws/worlds.ts'
import { rateLimit, withEndpoints } from './fixtures/endpoints-app.ts'
import { cases } from './library/cases.ts'

const done = () => new Response('done')
const post = { method: 'POST', rateLimit } as const

/** Each kind of body and of access. */
const declared = {
  read: endpoint({ method: 'GET', path: '/read/{id}', rateLimit, access: { scope: 'read' } }, done),
  plain: endpoint({ ...post, path: '/plain', access: {} }, done),
  admin: endpoint({ ...post, path: '/admin', body: 'form', access: { role: 'admin', scope: 'write' } }, done),
  sensitive: endpoint(
    { ...post, path: '/sensitive', body: 'bytes', types: ['image/*'], access: { sensitive: true } },
    done,
  ),
  stream: endpoint({ ...post, path: '/stream', body: 'stream', access: { sensitive: true } }, done),
  json: endpoint({ ...post, path: '/json', body: 'bytes', types: ['application/json'], access: {} }, done),
  open: endpoint({ ...post, path: '/open' }, done),
}

const app = withEndpoints(declared)

/** Serves endpoints, also those that `defineApp` would refuse. */
async function serve(endpoints: Endpoints) {
  const running = await start({ ...app, endpoints })
  return { running, worlds: await createWorlds(running, cases, () => Promise.resolve(0)) }
}

const { running, worlds } = await serve(declared)
afterAll(running.close)

defineLawsOfEndpoints(declared, () => worlds)

describe('the laws of endpoints', () => {
  const without = ({ access: _, ...each }: Endpoint): Endpoint => each

  test('find each endpoint that does not check its callers', async () => {
    const { read, plain, admin, sensitive, stream, json, open } = declared
    const broken = await serve({
      read: { ...read, access: { scope: 'write' } },
      plain: without(plain),
      admin: { ...admin, access: { scope: 'write' } },
      sensitive: { ...sensitive, access: {} },
      stream: without(stream),
      json: without(json),
      open,
    })
    onTestFinished(broken.running.close)
    const found: Record<string, string[]> = {}
    for (const [name, refusal] of Object.entries(refusedCallers))
      found[name] = await listAccepting(broken.worlds, declared, refusal)

    expect(found).toEqual({
      'without credentials': ['plain', 'stream', 'json'],
      'whose session was revoked': ['plain', 'stream', 'json'],
      'whose account is banned': ['plain', 'stream', 'json'],
      'during an impersonation, if the endpoint is sensitive': ['sensitive', 'stream'],
      'without the role': ['admin'],
      'with a token that has only the scope read': ['plain', 'stream', 'json'],
      'with a token that has only the scope write': ['read', 'plain', 'stream', 'json'],
      'with a cookie and a body other than JSON, from an unknown page': ['plain', 'stream'],
    })
  })

  test('find an endpoint that refuses the callers whom it declares', async () => {
    const { plain, ...others } = declared
    const other: Endpoints = { ...others, plain: { ...plain, access: { scope: 'read' } } }

    expect(await listRefusing(worlds, other)).toEqual(['plain'])
  })
})
