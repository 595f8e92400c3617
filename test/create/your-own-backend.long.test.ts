import { expect, test } from 'vitest'

import { createFetch } from '../../engine/test/fixtures/http.ts'
import { accept, rpc } from '../../engine/test/fixtures/mcp-agent.ts'
import { executeDocument } from '../fixtures/document.ts'
import { temporaryDatabase } from '../fixtures/programs.ts'

/** Lists the books as an agent does. */
async function askAsAgent(origin: string, token: string) {
  const call = createFetch({ origin })
  const request = rpc('tools/call', { name: 'books_list', arguments: {} })
  return (await call('POST', '/mcp', request, { authorization: `Bearer ${token}`, accept })).body
}

test('the steps of docs/your-own-backend.md create a library', { timeout: 900_000 }, async () => {
  const database = { 'postgres://localhost/lendery': await temporaryDatabase('template0') }

  await executeDocument('docs/your-own-backend.md', database, async (body, { origin, output }) => {
    if (body.includes('--for mcp'))
      expect(await askAsAgent(origin, output().trim().split('\n').at(-1) ?? '')).toMatchObject({
        result: { structuredContent: { books: [{ title: 'Dune', copies: 1, lent: 1 }] } },
      })
  })
})
