import { traverseContractProcedures } from '@orpc/server'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { metaOf } from '../../engine/contract/meta.ts'
import { ErrorBody } from '../../engine/contract/errors.ts'
import { contract } from '../../contract/index.ts'
import { createFetch } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)
const signIn = async () => ({ cookie: await service.signIn(newEmail()) })

describe('a random request', () => {
  const fields = [
    ...['title', 'body', 'email', 'role', 'taskTitle', 'taskDesc', 'description', 'status', 'newNote'],
    ...['inputValue', 'revokeSessionToken', 'name', 'guests', 'id'],
  ]
  const value = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\0', '\ud800', 'reader', 'pending', 'ada@example.com', 1e308, 2 ** 53, -1, ''),
  )
  const object = fc.oneof(fc.dictionary(fc.constantFrom(...fields), value), fc.jsonValue())
  const body = fc.oneof({ weight: 4, arbitrary: object.map((json) => JSON.stringify(json)) }, fc.string())
  const id = fc
    .oneof(fc.nat(), fc.bigInt(), fc.uuid(), fc.string({ unit: 'binary' }), fc.double())
    .map((value) => encodeURIComponent(String(value)))
  const request = fc.record({
    body: fc.option(body),
    id,
    query: fc.webQueryParameters(),
    accept: fc.constantFrom('*/*', 'application/json;version=1', 'text/event-stream', 'nonsense;;;q=x', ''),
    language: fc.oneof(fc.string().map(encodeURIComponent), fc.constantFrom('de', '*;q=0', 'zh-TW')),
  })
  const settings = { numRuns: 20, endOnFailure: true }

  const operations: { name: string; method: string; path: string; signedIn: boolean }[] = []
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path: steps }) => {
    const { method = 'POST', path = '/' } = procedure['~orpc'].route
    operations.push({
      name: steps.join('.'),
      method,
      path,
      signedIn: metaOf(procedure).access === 'signedIn',
    })
  })

  test('is generated for every operation of the contract', () => {
    expect(operations.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['status.get', 'notes.share', 'legacyNotes.create', 'reservations.create']),
    )
    expect(operations.length).toBeGreaterThanOrEqual(26)
  })

  test.each(operations)(
    'over REST to $name gets a documented response',
    async ({ method, path, signedIn }) => {
      const ada = await signIn()

      const property = fc.asyncProperty(request, async ({ body, id, query, accept, language }) => {
        const target = `${path.replace('{id}', id)}?${query}`
        const sent = method === 'GET' ? undefined : (body ?? undefined)
        const headers = { accept, 'accept-language': language }
        for (const credentials of [ada, {}]) {
          const answer = await call(method, target, sent, { ...headers, ...credentials })
          expect(answer.status).toBeLessThan(500)
          if (answer.status !== 200)
            expect(ErrorBody.strict().parse(answer.body)).toMatchObject({
              status: answer.status,
              error: (answer.body as ErrorBody).message,
            })
          if (signedIn && credentials !== ada) expect(answer.status).not.toBe(200)
        }
      })

      await fc.assert(property, settings)
    },
  )

  test.each(operations)('over RPC to $name gets a documented response', async ({ name, signedIn }) => {
    const ada = await signIn()
    const path = `/rpc/${name.replace('.', '/')}`
    const meta = fc.array(fc.array(fc.oneof(fc.nat(9), fc.constantFrom(...fields), fc.string())))

    const property = fc.asyncProperty(
      object,
      fc.option(fc.oneof(meta, fc.jsonValue())),
      async (json, extra) => {
        for (const credentials of [ada, {}]) {
          const answer = await call(
            'POST',
            path,
            { json, ...(extra !== null && { meta: extra }) },
            credentials,
          )
          expect(answer.status).toBeLessThan(500)
          if (answer.status !== 200)
            expect(answer.body).toMatchObject({
              json: { code: expect.any(String), status: answer.status, message: expect.any(String) },
            })
          if (signedIn && credentials !== ada) expect(answer.status).not.toBe(200)
        }
      },
    )

    await fc.assert(property, settings)
  })
})
