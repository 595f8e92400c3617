import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'

import { startConsole } from '../engine/test/fixtures/console.ts'
import { type Call, quote, toCreateToken, toCurl, toMcpCurl } from '../pages/console/procedures/snippets.ts'
import { toLiteral } from '../pages/console/procedures/typescript-snippet.ts'

const { client, service } = await startConsole()
const procedures = await client.procedures.list()
const ada = { person: 'ada', scopes: null } as const
const agent = { label: 'Agent', scopes: ['read', 'write'] }

const callOf = (operation: string, input: unknown): Call => {
  const procedure = procedures.find((each) => each.operation === operation)
  if (!procedure) throw new Error(`There is no procedure ${operation}`)
  return { origin: service.origin, procedure, input, isSignedIn: true, headers: {} }
}

/** Runs a command in a shell, and returns its output as JSON. */
async function run(command: string, variables: Record<string, string>) {
  const env = { PATH: process.env.PATH, ...variables }
  const { stdout } = await promisify(execFile)('bash', ['-c', `${command} --silent`], { env })
  return JSON.parse(stdout) as unknown
}

async function createToken(audience: 'service' | 'mcp') {
  const { body } = await client.procedures.call({
    operation: 'tokens.create',
    input: { ...agent, audience },
    caller: ada,
    headers: {},
  })
  return (JSON.parse(body) as { token: string }).token
}

const names = ["Ada's books", '"quoted" $HOME `id` \\', 'zwölf %20 & = ? #', '-n\n']

describe('the command for curl', () => {
  test.each(names)('creates a shelf with the name %j', async (name) => {
    const TOKEN = await createToken('service')

    const answer = await run(toCurl(callOf('shelves.create', { name })), { TOKEN })

    expect(answer).toMatchObject({ name })
  })

  test.each([
    ['books.list', {}],
    ['books.list', { limit: 2 }],
    ['loans.list', { bookId: 'a b&c=ä', limit: 7 }],
    ['loans.get', { id: '12' }],
    ['books.get', { id: 'dune' }],
    ['loans.return', { id: '12' }],
    ['shelves.share', { id: '3', email: 'bob@example.com', role: 'reader' }],
    ['status.get', undefined],
  ])('sends the same request as %s with %j', async (operation, input) => {
    const { request } = await client.procedures.call({ operation, input, caller: ada, headers: {} })

    const command = toCurl(callOf(operation, input))

    expect(command).toContain(quote(request.url))
    if (request.body === null) expect(command).not.toContain(' -d ')
    else expect(command).toContain(`-d ${quote(request.body)}`)
  })

  test('of an agent calls the tool', async () => {
    const AGENT = await createToken('mcp')

    const answer = await run(toMcpCurl(callOf('loans.list', { limit: 3 })), { AGENT })

    expect(answer).toMatchObject({ result: { structuredContent: { loans: [] } } })
  })

  test('of an agent calls the tool of a public procedure, which needs a token, too', async () => {
    const call = { ...callOf('books.list', { limit: 1 }), isSignedIn: false }

    const answer = await run(toMcpCurl(call), { AGENT: await createToken('mcp') })

    expect(answer).toMatchObject({ result: { structuredContent: { books: expect.any(Array) } } })
    expect(toCreateToken(call, 'agents')).toBe(
      `npx tallystick --at '${call.origin}' create-token --scope read --label Agent --for mcp`,
    )
  })
})

test.each([
  ...names,
  'back\\slash',
  "it's",
  7,
  null,
  [1, ['a']],
  { a: { 'b-c': "d'e" } },
  { long: 'x'.repeat(80) },
])('the TypeScript code of %j has this value', (value) => {
  expect(runInNewContext(`(${toLiteral(value)})`)).toEqual(value)
})
