import { createRpcClient } from 'tallystick-contract'
import { beforeEach, describe, expect, test } from 'vitest'

import { addBook } from '../fixtures/books.ts'
import { createFetch } from '../fixtures/http.ts'
import { type contract, seen, startService, transports } from '../fixtures/marks-service.ts'
import { accept, rpc } from '../fixtures/mcp-agent.ts'

beforeEach(() => {
  seen.guard = []
  seen.procedure = []
})

const service = await startService()
const fetchFrom = createFetch(service)
const bookId = await addBook(service)

type Send = (headers: { cookie: string; token: string }, input: object) => Promise<unknown>

const codeOf = (body: unknown) => (body as { code?: string }).code ?? 'SUCCESS'

/** Each way to call the procedure with any input. Returns the code of the error, or SUCCESS. */
const ways: Record<string, Send> = {
  ...Object.fromEntries(
    transports.map(([transport, connect]): [string, Send] => [
      transport,
      ({ cookie }, input) =>
        connect(service, { cookie })
          .marks.erase(input as never)
          .then(() => 'SUCCESS', codeOf),
    ]),
  ),
  'in a batch': async ({ cookie }, input) => {
    const items = [{ url: `${service.origin}/rpc/marks/erase`, body: { json: input } }]
    const headers = { cookie, 'x-orpc-batch': 'buffered' }
    const { body } = await fetchFrom('POST', '/rpc/__batch__', items, headers)
    const [part] = body as { body: { json: unknown } }[]
    return codeOf(part?.body.json)
  },
  'by an agent': async ({ token }, input) => {
    const request = rpc('tools/call', { name: 'marks_erase', arguments: input })
    const headers = { accept, authorization: `Bearer ${token}` }
    const { body } = await fetchFrom('POST', '/mcp', request, headers)
    const { result } = body as { result: { isError?: boolean; content: { text: string }[] } }
    return result.isError ? codeOf(JSON.parse(result.content[0]?.text ?? '')) : 'SUCCESS'
  },
}

/** Signs in a person with a loan. */
async function person() {
  const cookie = await service.signIn(`${crypto.randomUUID()}@example.com`)
  const client = service.client({ cookie })
  const { id } = await client.loans.create({ bookId })
  const { token } = await client.tokens.create({
    label: 'Agent',
    scopes: ['read', 'write'],
    audience: 'mcp',
    days: 1,
  })
  const hasLoan = async () => (await client.loans.list({})).loans.some((loan) => loan.id === id)
  return { cookie, token, id, hasLoan }
}

describe.each(Object.entries(ways))('an id with a schema of its own, %s', (_, erase) => {
  test('is decoded for the guard as for the procedure', async () => {
    const ada = await person()

    expect(await erase(ada, { id: `n${ada.id}` })).toBe('SUCCESS')

    expect(seen).toEqual({ guard: [ada.id], procedure: [ada.id] })
    expect(await ada.hasLoan()).toBe(false)
  })

  test('is the id of no item for another person', async () => {
    const [ada, bob] = [await person(), await person()]

    expect(await erase(bob, { id: `n${ada.id}` })).toBe('NOT_FOUND')

    expect(seen).toEqual({ guard: [ada.id], procedure: [] })
    expect(await ada.hasLoan()).toBe(true)
  })

  test('ends in the guard if the contract rejects the id', async () => {
    const [ada, bob] = [await person(), await person()]
    const ids = [String(ada.id), `n0${ada.id}`, `n${ada.id} `, `N${ada.id}`, 'n999999', 'x']

    for (const id of ids) expect(await erase(bob, { id })).toBe('BAD_REQUEST')

    expect(seen).toEqual({ guard: [], procedure: [] })
    expect(await ada.hasLoan()).toBe(true)
  })

  test('has priority over the other fields of the input', async () => {
    const [ada, bob] = [await person(), await person()]

    expect(await erase(bob, { id: `n${ada.id}`, force: 'yes' })).toBe('NOT_FOUND')
    expect(await erase(ada, { id: `n${ada.id}`, force: 'yes' })).toBe('BAD_REQUEST')

    expect(seen.procedure).toEqual([])
  })
})

test.each([[7], [['n7']], [undefined], [{ id: 'n7' }], [null], [new Set(['n7'])]])(
  'the id %j of another type ends in the guard',
  async (id) => {
    const ada = await person()
    const client = createRpcClient<typeof contract>(service.origin, { headers: { cookie: ada.cookie } })

    const erased = client.marks.erase({ id } as never)

    await expect(erased).rejects.toMatchObject({ status: 400, data: { issues: [{ path: 'id' }] } })
    expect(seen).toEqual({ guard: [], procedure: [] })
  },
)
