import { describe, expect, test } from 'vitest'

import { endpoint } from '../app/endpoint.ts'
import { ENGINE_PATHS } from '../start/define-app/mistakes/endpoints.ts'
import { createAuthEndpoints } from '../http/endpoints/better-auth.ts'
import { createHealthEndpoints } from '../http/endpoints/health.ts'
import { createOAuthEndpoints } from '../http/endpoints/oauth.ts'
import { createReferenceEndpoints } from '../http/endpoints/reference.ts'
import { requireFreePaths } from '../http/server/endpoint-routes.ts'
import { rateLimit, withEndpoints } from './fixtures/endpoints-app.ts'
import { createTallystick } from './fixtures/service.ts'

type Declaration = Parameters<typeof endpoint>[0]

const post = { method: 'POST', path: '/hooks/a', rateLimit } as const
const get = { ...post, method: 'GET' } as const
const answer = () => new Response()
const declare = (all: Record<string, Declaration>) => () =>
  withEndpoints(Object.fromEntries(Object.entries(all).map(([name, each]) => [name, endpoint(each, answer)])))

const mistakes: [string, Declaration, string][] = [
  [
    'a path of the engine',
    { ...post, path: '/api/auth/hook' },
    'the path /api/auth/hook belongs to the engine (/api/auth)',
  ],
  [
    'a parameter for a path of the engine',
    { ...get, path: '/{page}' },
    'the path /{page} belongs to the engine',
  ],
  [
    'a parameter above paths of the engine',
    { ...get, path: '/api/{a}/{b}' },
    'belongs to the engine (/api/auth)',
  ],
  ['the path of the page', { ...get, path: '/' }, 'the path / must have segments'],
  ['a slash at its end', { ...post, path: '/hooks/' }, 'the path /hooks/ must have segments'],
  ['a dot segment', { ...post, path: '/hooks/../x' }, 'must have segments'],
  ['a percent sign', { ...post, path: '/hooks/%61' }, 'must have segments'],
  ['a part of a segment', { ...post, path: '/hooks/a{id}' }, 'must have segments'],
  ['one parameter twice', { ...post, path: '/hooks/{id}/{id}' }, 'different parameters'],
  ['a procedure', { ...get, path: '/api/books' }, 'GET /api/books would hide the procedure books.list'],
  [
    'a procedure with a parameter',
    { ...get, path: '/api/loans/{other}' },
    'would hide the procedure loans.get',
  ],
  ['a procedure below a parameter', { ...get, path: '/api/{any}' }, 'would hide the procedure'],
  ['a body of a GET', { ...get, body: 'text' }, 'a GET has no body'],
  ['a size without body', { ...post, maxBytes: 5 }, 'without `body`, `maxBytes` has no effect'],
  ['a size of zero', { ...post, body: 'bytes', maxBytes: 0 }, '`maxBytes` is 0'],
  ['a size above 16 MiB', { ...post, body: 'bytes', maxBytes: 2 ** 25 }, 'Only a stream can be larger'],
  [
    'a type with a parameter',
    { ...post, body: 'bytes', types: ['text/plain;a=b'] },
    'text/plain;a=b is no media type',
  ],
  ['types of a form', { ...post, body: 'form', types: ['a/b'] }, 'a form is always'],
  ['a timeout of a day', { ...post, timeout: 86_400 }, '`timeout` is 86400'],
  [
    'a limit by account without access',
    { ...post, rateLimit: { ...rateLimit, perAccount: true } },
    'counts by account',
  ],
  [
    'a change with the scope `read`',
    { ...post, access: { scope: 'read' } },
    'a POST needs the scope `write`',
  ],
  ['an audited GET', { ...get, audit: 'a.b' }, 'a GET changes nothing'],
  ['an audited stream', { ...post, body: 'stream', audit: 'a.b' }, 'would keep a transaction open'],
  [
    'a stream that can be impersonated',
    { ...post, body: 'stream', access: {} },
    'would keep a transaction open',
  ],
]

describe('defineApp', () => {
  test.each(mistakes)('refuses an endpoint with %s', (_, declaration, mistake) => {
    expect(declare({ hook: declaration })).toThrow(`\n- endpoints.hook: `)
    expect(declare({ hook: declaration })).toThrow(mistake)
  })

  test('refuses two endpoints with one method and place, and two limits with one name', () => {
    const same = declare({ one: { ...post, path: '/a/{b}' }, two: { ...post, path: '/a/{c}' } })
    const limits = declare({ one: { ...post, rateLimit: { ...rateLimit, points: 5 } }, two: { ...get } })

    expect(same).toThrow('endpoints.two: endpoints.one has the same method and path')
    expect(limits).toThrow('Two rate limits have the name hooks')
    expect(declare({ 'a b': post })).toThrow('endpoints.a b: a name has letters')
  })

  test('permits other methods, and a segment beside a parameter', () => {
    const accepted = declare({
      one: { ...post, path: '/api/loans/{id}/receipt' },
      two: { ...get, path: '/api/loans/export' },
      three: { ...get, path: '/hooks/{id}' },
      four: { ...get, path: '/hooks/new' },
      five: { ...post, path: '/hooks/{id}' },
      six: { ...post, path: '/.well-known/hook', body: 'stream', maxBytes: 2 ** 32, timeout: 3600 },
    })

    expect(accepted).not.toThrow()
  })

  test('knows all paths of the engine', async () => {
    const { services, close } = await createTallystick()
    const all = [
      createHealthEndpoints(services),
      createReferenceEndpoints(services),
      createAuthEndpoints(services.settings),
      createOAuthEndpoints(services),
    ].flatMap(Object.keys)
    await close()

    const unknown = all.filter(
      (path) => !ENGINE_PATHS.some((own) => path === own || path.startsWith(`${own}/`)),
    )
    expect(unknown).toEqual([])
  })
})

test('an endpoint cannot have the path of a file of the page', () => {
  const endpoints = { logo: endpoint({ ...get, path: '/{file}' }, answer) }

  expect(() => {
    requireFreePaths(endpoints, ['/', '/logo.png'])
  }).toThrow('endpoints.logo: the path /{file} would hide /logo.png of the service')
})
