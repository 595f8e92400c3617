import { implement } from '@orpc/server'
import { type Context, defineApp, withoutCaller } from 'tallystick'
import { appContract, createRestClient, createRpcClient, publicAccess } from 'tallystick-contract'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, describe, expect, test } from 'vitest'
import * as z from 'zod'

import { app as library } from '../library/app.ts'

const Item = z.object({ id: z.int(), name: z.string() })
const get = (path: `/${string}`) => publicAccess.route({ method: 'GET', path, summary: path })
const procedures = {
  ordered: get('/api/ordered').output(z.object({ items: z.array(Item) })),
  undeclared: get('/api/undeclared').output(z.object({ items: z.array(Item) })),
  defaulted: get('/api/defaulted').output(z.object({ name: z.string().trim().default('x') })),
  renamed: get('/api/renamed').output(Item.transform(({ id }) => ({ number: id }))),
  nothing: get('/api/nothing').output(z.void()),
}
const contract = appContract({ items: procedures })
const os = implement(procedures).$context<Context>().use(withoutCaller)
const app = defineApp({
  name: library.name,
  version: '1.0.0',
  description: 'Items.',
  contract,
  migrationsFolder: library.migrationsFolder,
  resources: {
    items: {
      description: 'Items.',
      procedures: os.router({
        ordered: os.ordered.handler(() => ({ items: [{ name: 'Ada', id: 7 }] })),
        undeclared: os.undeclared.handler(() => ({ items: [{ name: 'Ada', id: 7, password: 'secret' }] })),
        defaulted: os.defaulted.handler(() => ({})),
        renamed: os.renamed.handler(() => ({ id: 7, name: 'Ada' })),
        nothing: os.nothing.handler(() => undefined),
      }),
    },
  },
})

type Client = Awaited<ReturnType<typeof createTallystick<typeof contract, typeof app.router>>>['stranger']

async function start(environment: Record<string, string> = {}) {
  const lines: unknown[] = []
  const service = await createTallystick(app, environment)
  const log = {
    ...service.services.log,
    error: (details: unknown) => lines.push(details),
    info: () => undefined,
  }
  Object.assign(service.services, { log: Object.assign(Object.create(service.services.log), log) })
  const origin = await service.listen()
  afterAll(() => service.close())
  const clients: [string, Client][] = [
    ['in process', service.stranger],
    ['over RPC', createRpcClient<typeof contract>(origin)],
    ['over REST', createRestClient(contract, origin)],
  ]
  return { clients, origin, lines }
}

const development = await start()

describe.each(development.clients)('an output %s', (_, { items }) => {
  test('can have its properties in any order', async () => {
    expect(await items.ordered()).toEqual({ items: [{ id: 7, name: 'Ada' }] })
  })

  test('with an undeclared property fails, and the log names the property', async () => {
    development.lines.length = 0

    await expect(items.undeclared()).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' })
    expect(development.lines).toMatchObject([{ err: { issues: [{ path: 'items.0.password' }] } }])
  })

  test('can be completed by its schema', async () => {
    expect(await items.defaulted()).toEqual({ name: 'x' })
  })

  test('can be transformed by its schema', async () => {
    expect(await items.renamed()).toEqual({ number: 7 })
  })

  test('can be absent', async () => {
    await expect(items.nothing()).resolves.toBeUndefined()
  })
})

test('an absent output is 204 without a body over REST', async () => {
  const response = await fetch(`${development.origin}/api/nothing`)

  expect(response.status).toBe(204)
  expect(await response.text()).toBe('')
})
