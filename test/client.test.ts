import { build } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'

import * as sources from '../contract/client.ts'

const { createClient, createRestClient } = sources

describe.each([
  { name: 'createClient', create: createClient, path: '/rpc/counter/get' },
  { name: 'createRestClient', create: createRestClient, path: '/api/counter' },
])('$name', ({ create, path }) => {
  test.each([
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://localhost:3000/', 'http://localhost:3000'],
    ['https://app.example/backend', 'https://app.example/backend'],
    ['https://app.example/backend/', 'https://app.example/backend'],
    ['https://app.example/a/b', 'https://app.example/a/b'],
  ])('keeps the path of %s', async (address, base) => {
    const requested: string[] = []
    const client = create(address, {
      fetch: (request) => {
        requested.push(request.url)
        return Promise.resolve(Response.json({ code: 'NOT_FOUND' }, { status: 404 }))
      },
    })

    await client.counter.get().catch(() => undefined)

    expect(requested).toEqual([base + path])
  })

  test.each(['localhost:4500', '', 'ftp://x', '/api', 'http://', 'null'])(
    'rejects the origin %j at once',
    (address) => {
      expect(() => create(address)).toThrow(
        new TypeError(`'${address}' is not an origin such as http://localhost:3000`),
      )
    },
  )
})

/** Bundles the clients as an application does for browsers, with short names of classes, and imports the bundle. */
async function importBundle() {
  const { outputFiles } = await build({
    entryPoints: ['contract/client.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  const text = outputFiles[0]?.text ?? ''
  return (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as typeof sources
}

describe.each([
  { code: 'the sources', load: () => Promise.resolve(sources) },
  { code: 'a minified bundle', load: importBundle },
])('in $code, the name of an error', async ({ load }) => {
  const clients = await load()
  const { createClient, createRestClient, decodeErrorBody, isDefinedError, ORPCError, safe } = clients
  const body = { defined: true, code: 'UNAUTHORIZED', status: 401, message: 'Sign in first' }
  const answers = (answer: () => Response) => ({ fetch: () => Promise.resolve(answer()) })

  describe.each([
    { client: 'createClient', create: createClient, sent: { json: body } },
    { client: 'createRestClient', create: createRestClient, sent: { ...body, error: body.message } },
  ])('of $client', ({ create, sent }) => {
    test('is ORPCError for an error of the service, which isDefinedError and safe recognize', async () => {
      const client = create(
        'http://localhost',
        answers(() => Response.json(sent, { status: 401 })),
      )

      const { error, isDefined } = await safe(client.account.get())

      expect(error).toBeInstanceOf(ORPCError)
      expect(error).toMatchObject({ name: 'ORPCError', code: 'UNAUTHORIZED' })
      expect([isDefined, isDefinedError(error)]).toEqual([true, true])
      expect(error).toHaveProperty('toJSON', expect.any(Function))
      expect(JSON.parse(JSON.stringify(error))).toEqual(body)
    })

    test('is ORPCError for an error that refuses a stream', async () => {
      const client = create(
        'http://localhost',
        answers(() => Response.json(sent, { status: 401 })),
      )

      await expect(client.live.watch({ topics: ['tasks'] })).rejects.toMatchObject({ name: 'ORPCError' })
    })

    test('is ResponseError for an answer in another format', async () => {
      const client = create(
        'http://localhost',
        answers(() => new Response('{', { headers: { 'content-type': 'application/json' } })),
      )

      await expect(client.counter.get()).rejects.toMatchObject({ name: 'ResponseError' })
    })

    test('is TypeError for a service that cannot be reached, and for a wrong origin', async () => {
      const client = create('http://127.0.0.1:1')

      await expect(client.counter.get()).rejects.toMatchObject({ name: 'TypeError' })
      expect(() => create('')).toThrow(expect.objectContaining({ name: 'TypeError' }))
    })
  })

  test('of decodeErrorBody is ORPCError', () => {
    expect(decodeErrorBody({ ...body, error: body.message })).toMatchObject({ name: 'ORPCError' })
  })

  test('that onRetry receives after the end of a stream is TypeError, as of a lost connection', async () => {
    const stop = new AbortController()
    const errors: unknown[] = []
    const client = createClient(
      'http://localhost',
      answers(() => new Response('', { headers: { 'content-type': 'text/event-stream' } })),
    )
    const onRetry = ({ error }: { error: unknown }) => {
      errors.push(error)
      stop.abort()
    }

    const states = await client.live.watch(
      { topics: ['counter'] },
      { signal: stop.signal, context: { onRetry } },
    )
    await states.next().catch(() => undefined)

    expect(errors).toMatchObject([{ name: 'TypeError', message: 'The service ended the stream' }])
  })
})

test('the error of a bundler names the packages that tallystick-client/query needs in addition', async () => {
  const { peerDependencies } = JSON.parse(await readFile('contract/package.json', 'utf8')) as {
    peerDependencies: Record<string, string>
  }

  const bundle = build({
    entryPoints: ['contract/query/index.ts'],
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'silent',
    alias: { '@orpc/tanstack-query': '@orpc/absent' },
  })

  await expect(bundle).rejects.toMatchObject({
    errors: [
      {
        location: {
          lineText: expect.stringContaining(
            `npm install @orpc/tanstack-query@${peerDependencies['@orpc/tanstack-query']} @tanstack/query-core`,
          ),
        },
      },
    ],
  })
})
