import { isAsyncIteratorObject } from '@orpc/shared'
import { readFile } from 'node:fs/promises'
import { createRestClient, createRpcClient, creating, publicAccess } from 'tallystick-contract'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'

import { createDocument } from '../openapi/document.ts'
import { toJsonValue } from '../values/output.ts'
import { mistakesOfTypes, refusals } from '../start/define-app/mistakes/types.ts'
import { alwaysAccepted, type Place, places, type TypeCase, types } from './fixtures/types.ts'
import { app, cellName, contract, contractOf, isAccepted, parsedValue } from './fixtures/types-app.ts'
import { listRefusedTools } from '../dev/testing/laws/tools.ts'
import { freePort } from '../dev/testing/postgres.ts'
import { newEmail } from './fixtures/bind-service.ts'

const port = await freePort()
const origin = `http://127.0.0.1:${port}`
const service = await createTallystick(app, { PORT: String(port), BASE_URL: origin })
afterAll(() => service.close())

type Call = (input: unknown, options?: { context?: { headers?: Record<string, string> } }) => Promise<unknown>
interface Clients {
  types: Record<string, Call>
  live: { watch: Call }
}

const clients: Record<string, { client: Clients; isJson: boolean }> = {}
let token = ''
beforeAll(async () => {
  await service.listen(port)
  const cookie = await service.signIn(newEmail())
  const headers = { cookie }
  clients['in process'] = { client: service.client(headers) as unknown as Clients, isJson: false }
  clients['over RPC'] = { client: createRpcClient<Clients>(origin, { headers }), isJson: false }
  clients['over REST'] = {
    client: createRestClient(contract, origin, { headers }) as unknown as Clients,
    isJson: true,
  }
  ;({ token } = await service
    .client(headers)
    .tokens.create({ label: 'Types', scopes: ['read', 'write'], audience: 'mcp' }))
})

const transports = ['in process', 'over RPC', 'over REST']
const clientOf = (name: string) => clients[name] as { client: Clients; isJson: boolean }

async function callTool(name: string, input: unknown) {
  const response = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: `types_${name}`, arguments: toJsonValue(input) },
    }),
  })
  const { result } = (await response.json()) as {
    result: { structuredContent?: Record<string, unknown>; content: unknown }
  }
  if (!result.structuredContent) throw new Error(JSON.stringify(result.content))
  return result.structuredContent
}

function callOf({ types }: Clients, name: string) {
  const call = types[name]
  if (!call) throw new Error(`There is no procedure ${name}`)
  return call
}

const accepted = (place: Place) => Object.entries(types).filter(([, each]) => isAccepted(each, place))

/** The JSON of a value, as a client receives JSON: without properties that are undefined. */
const jsonOf = (value: unknown): unknown => {
  const json = toJsonValue(value)
  return json === undefined ? undefined : JSON.parse(JSON.stringify(json))
}
const expectedOf = (each: TypeCase, index: 0 | 1, isJson: boolean) =>
  isJson ? jsonOf(parsedValue(each, index)) : parsedValue(each, index)

describe.each(transports)('%s', (transport) => {
  test.each(
    (['query', 'path', 'body'] as const).flatMap((place) =>
      accepted(place).map(([name, each]) => ({ name, place, each })),
    ),
  )('the value $name in a $place is returned', async ({ name, place, each }) => {
    const { client, isJson } = clientOf(transport)
    const call = callOf(client, cellName(name, place))
    for (const index of [0, 1] as const) {
      const output = (await call({ value: each.values[index] })) as { value: unknown }

      expect(output.value).toEqual(expectedOf(each, index, isJson))
    }
    expect(expectedOf(each, 0, isJson)).not.toEqual(expectedOf(each, 1, isJson))
  })

  test.each(accepted('body'))('the value %s with an Idempotency-Key is answered once', async (name, each) => {
    const { client } = clientOf(transport)
    const call = callOf(client, cellName(name, 'body'))
    const options = { context: { headers: { 'idempotency-key': crypto.randomUUID() } } }
    const output = await call({ value: each.values[0] }, options)

    const repeated = await call({ value: each.values[0] }, options)

    expect(repeated).toEqual(output)
    await expect(call({ value: each.values[1] }, options)).rejects.toMatchObject({ code: 'KEY_REUSED' })
  })

  test.each(accepted('root'))('the output %s is returned', async (name, each) => {
    const { client, isJson } = clientOf(transport)
    const call = callOf(client, cellName(name, 'root'))
    for (const index of [0, 1] as const)
      expect(await call({ second: index === 1 })).toEqual(expectedOf(each, index, isJson))
  })

  test.each(accepted('query'))('the input %s of a topic selects the state', async (name, each) => {
    const { client, isJson } = clientOf(transport)
    const topic = cellName(name, 'query')
    for (const index of [0, 1] as const) {
      const events = await client.live.watch({
        topics: [topic],
        [topic]: { value: each.values[index], label: 'x' },
      })
      if (!isAsyncIteratorObject(events)) throw new Error('No events')
      const { value } = (await events.next()) as { value: { state: { value: unknown } } }
      await events.return?.()

      expect(value.state.value).toEqual(expectedOf(each, index, isJson))
    }
  })
})

describe('a tool', () => {
  test.each(accepted('body'))('receives and returns %s', async (name, each) => {
    for (const index of [0, 1] as const) {
      const { value } = await callTool(cellName(name, 'body'), { value: each.values[index] })

      expect(value).toEqual(expectedOf(each, index, true))
    }
  })

  test.each(accepted('root'))('returns an object for the output %s', async (name, each) => {
    for (const index of [0, 1] as const) {
      const result = await callTool(cellName(name, 'root'), { second: index === 1 })
      const expected = expectedOf(each, index, true) ?? null

      expect('result' in result ? result.result : result).toEqual(expected)
    }
  })
})

test('the schemas of all tools are in the subset that Claude, OpenAI and Gemini accept', () => {
  expect(listRefusedTools(app)).toEqual([])
})

describe('defineApp', () => {
  const cells = Object.entries(types).flatMap(([name, each]) =>
    places.map((place) => ({ name, each, place })),
  )

  test.each(cells)('refuses $name in a $place, or accepts it', ({ name, each, place }) => {
    const procedure = contractOf(name, each, place)
    const reason = each.refused?.[place]

    const [mistake] = mistakesOfTypes({ types: { it: procedure } })

    expect(mistake?.split(' cannot be sent: ')[1]).toBe(reason && refusals[reason])
  })

  test('refuses the types in the table of docs/your-own-backend.md', async () => {
    const text = await readFile(new URL('../../docs/your-own-backend.md', import.meta.url), 'utf8')
    const section = text.slice(text.indexOf('\n## Types\n'), text.indexOf('\n## Upgrade\n'))
    const rows = section
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .slice(2)

    expect(rows.map((row) => row.split('|').at(-2)?.trim())).toEqual(Object.values(refusals))
  })

  test.each([
    ['root', publicAccess.input(z.array(z.string())), 'input'],
    ['root', publicAccess.input(z.union([z.object({}), z.string()])), 'input'],
    ['transformedAnswer', creating([]).output(z.string().transform((value) => value.length)), 'output'],
    [
      'toolProperty',
      creating([])
        .meta({ tool: { title: '', description: '', effect: 'create' } })
        .input(z.object({ 'a b': z.string() })),
      'input.a b',
    ],
    [
      'file',
      publicAccess.input(z.object({ list: z.array(z.object({ cover: z.file() })) })),
      'input.list.*.cover',
    ],
    [
      'nullInQuery',
      publicAccess.route({ method: 'GET' }).input(z.object({ q: z.string().nullish() })),
      'input.q',
    ],
  ] as const)('names the position of a refused type: %s', (reason, procedure, path) => {
    expect(mistakesOfTypes({ types: { it: procedure } })).toEqual([
      `types.it: ${path} cannot be sent: ${refusals[reason]}`,
    ])
  })

  test('refuses no text, number, boolean, date, enumeration, list, object, or union of these, except in paths', () => {
    const refused = alwaysAccepted.filter((name) =>
      places.some((place) => place !== 'path' && types[name]?.refused?.[place]),
    )
    expect(refused).toEqual([])
  })
})

test('the OpenAPI document describes all procedures', async () => {
  const document = JSON.parse(JSON.stringify(await createDocument(app, origin))) as { paths: object }

  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(['/api/string', '/api/string/in/{value}']),
  )
})
