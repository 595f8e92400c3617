import { createORPCClient } from '@orpc/client'
import type { ContractRouterClient } from '@orpc/contract'
import type { JsonifiedClient } from '@orpc/openapi-client'
import { OpenAPILink } from '@orpc/openapi-client/fetch'
import { describe, expect, test } from 'vitest'

import {
  type Contract,
  contract,
  decodeErrorBody,
  isDefinedError,
  isValidationError,
  ORPCError,
  safe,
} from '../../contract/client.ts'
import { describeTransports, startService } from '../fixtures/service.ts'

const service = await startService()

describe('isValidationError', () => {
  describeTransports(service, ({ person }) => {
    test('gives access to the invalid fields', async () => {
      const ada = await person()

      const { error } = await safe(ada.notes.create({ title: ' ', body: 'x'.repeat(4001) }))

      expect(isValidationError(error) && error.data.issues).toEqual([
        { path: 'title', message: 'Must have at least 1 character' },
        { path: 'body', message: 'Must have at most 4000 characters' },
      ])
    })

    test('rejects other errors', async () => {
      const ada = await person()

      const missing = await safe(ada.tasks.get({ id: 999_999 }))
      const broken = await safe(ada.reservations.create({ name: 'Ada', guests: 99 }))

      expect([missing.error, broken.error].map(isValidationError)).toEqual([false, false])
    })
  })

  test.each([
    undefined,
    new Error('x'),
    new ORPCError('BAD_REQUEST'),
    new ORPCError('BAD_REQUEST', { data: null }),
    new ORPCError('BAD_REQUEST', { data: { issues: 'x' } }),
  ])('rejects a value without issues: %s', (value) => {
    expect(isValidationError(value)).toBe(false)
  })
})

describe('decodeErrorBody', () => {
  const stockClient = (cookie: string): JsonifiedClient<ContractRouterClient<Contract>> =>
    createORPCClient(
      new OpenAPILink(contract, {
        url: service.origin,
        headers: { cookie },
        customErrorResponseBodyDecoder: decodeErrorBody,
      }),
    )

  test("makes oRPC's own OpenAPILink return the typed errors of the contract", async () => {
    const { error } = await safe(stockClient('').reservations.create({ name: 'Ada', guests: 99 }))

    expect(isDefinedError(error) && error.data).toEqual({
      guests: expect.any(String),
    })
  })

  test("makes oRPC's own OpenAPILink return validation errors", async () => {
    const ada = stockClient(await service.signIn('ada@example.com'))

    const { error } = await safe(ada.tasks.create({ taskTitle: '' }))

    expect(isValidationError(error) && error.data.issues).toEqual([
      { path: 'taskTitle', message: 'Must have at least 1 character' },
    ])
  })

  test.each([null, 'text', {}, { code: 'NOT_FOUND' }])('ignores a body with another shape: %j', (body) => {
    expect(decodeErrorBody(body)).toBeUndefined()
  })
})
