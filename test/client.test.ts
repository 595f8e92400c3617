import { describe, expect, test } from 'vitest'

import { createClient, createRestClient } from '../contract/client.ts'

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
})
