import { describe, expect, test } from 'vitest'

import { createFetch, errorBody, validationError } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)

const FIRST_FORM = 'application/json;version=1'
const signIn = async (email = newEmail()) => ({ cookie: await service.signIn(email) })
const unauthorized = errorBody(401, 'UNAUTHORIZED', 'Sign in first', true)

describe('/api/notes', () => {
  const first = { id: expect.any(Number), userId: expect.any(String), text: 'One' }
  const second = { id: expect.any(String), title: 'One', body: 'One', mine: true }
  const accepts = [
    ['no Accept header', {}, 2],
    ['application/json', { accept: 'application/json' }, 2],
    ['*/*', { accept: '*/*' }, 2],
    ['text/html first', { accept: 'text/html, */*;q=0.8' }, 2],
    ['an unknown version', { accept: 'application/json;version=2' }, 2],
    ['the first form', { accept: FIRST_FORM }, 1],
    ['the first form, quoted', { accept: 'application/json; version="1"' }, 1],
    ['the first form preferred', { accept: `application/json;q=0.5, ${FIRST_FORM}` }, 1],
    ['the second form preferred', { accept: `${FIRST_FORM};q=0.5, application/json` }, 2],
    ['both forms', { accept: `application/json, ${FIRST_FORM}` }, 2],
    ['both forms, the first form listed first', { accept: `${FIRST_FORM}, application/json` }, 2],
    ['both forms with the same weight', { accept: `${FIRST_FORM};q=0.5, application/json; q=0.50` }, 2],
    ['the first form and any type', { accept: `*/*, ${FIRST_FORM}` }, 1],
    ['the first form and any application type', { accept: `application/*, ${FIRST_FORM}` }, 1],
    ['the first form less than any type', { accept: `${FIRST_FORM};q=0.5, */*;q=0.8` }, 2],
    ['the first form not at all', { accept: `${FIRST_FORM};q=0, application/json;q=0.1` }, 2],
    ['the first form with an invalid weight', { accept: `${FIRST_FORM};q=high, application/json;q=0.1` }, 2],
  ] as const

  const typeOf = ({ headers }: { headers: Headers }) => headers.get('content-type')
  const varyOf = ({ headers }: { headers: Headers }) =>
    headers
      .get('vary')
      ?.split(',')
      .map((name) => name.trim())

  test.each(accepts)(
    'returns the form for %s by GET, and names the form in the content type',
    async (_, accept, form) => {
      const ada = await signIn()
      await call('POST', '/api/notes', { newNote: 'One' }, ada)

      const answer = await call('GET', '/api/notes', undefined, { ...ada, ...accept })

      expect(answer.status).toBe(200)
      expect(typeOf(answer)).toBe(form === 1 ? FIRST_FORM : 'application/json')
      expect(varyOf(answer)).toEqual(expect.arrayContaining(['Accept', 'Datastar-Request']))
      expect(answer.body).toMatchObject(
        form === 1 ? { notes: [first], noteCount: 1 } : { notes: [second], can: { CREATE_NOTE: true } },
      )
    },
  )

  test.each(accepts)('accepts and returns the form for %s by POST', async (_, accept, form) => {
    const ada = await signIn()
    const body = form === 1 ? { newNote: 'One' } : { title: 'One', body: 'One' }

    const answer = await call('POST', '/api/notes', body, { ...ada, ...accept })

    expect(typeOf(answer)).toBe(form === 1 ? FIRST_FORM : 'application/json')
    expect(varyOf(answer)).toEqual(expect.arrayContaining(['Accept', 'Datastar-Request']))
    expect(answer.body).toMatchObject(form === 1 ? first : second)
  })

  test('recognizes the first form in the body of a POST', async () => {
    const ada = await signIn()

    const one = await call('POST', '/api/notes', { newNote: 'One' }, ada)
    const both = await call('POST', '/api/notes', { newNote: 'One', title: 'Two', body: '' }, ada)

    expect(one).toMatchObject({ status: 200, body: first })
    expect(typeOf(one)).toBe(FIRST_FORM)
    expect(both).toMatchObject({ status: 200, body: { title: 'Two' } })
    expect(typeOf(both)).toBe('application/json')
  })

  test.each([FIRST_FORM, 'application/json; version="1"', 'application/json; charset=utf-8; VERSION=1'])(
    'recognizes the first form by the media type %s of the body',
    async (type) => {
      const ada = await signIn()
      const signals = { newNote: 'One', title: 'Two', body: '' }

      const answer = await call('POST', '/api/notes', signals, { ...ada, 'content-type': type })

      expect(answer).toMatchObject({ status: 200, body: first })
      expect(typeOf(answer)).toBe(FIRST_FORM)
    },
  )

  test.each(['application/json;version=2', 'application/json; charset=utf-8', 'application/json;xversion=1'])(
    'recognizes the second form by the media type %s of the body',
    async (type) => {
      const ada = await signIn()
      const signals = { newNote: 'Two', title: 'One', body: 'One' }

      const answer = await call('POST', '/api/notes', signals, { ...ada, 'content-type': type })

      expect(answer).toMatchObject({ status: 200, body: second })
    },
  )

  test.each([
    ['a title for the first form', { title: 'One', body: '' }, { accept: FIRST_FORM }, 'newNote'],
    ['nothing for the first form', {}, { accept: FIRST_FORM }, 'newNote'],
    [
      'a title in the media type of the first form',
      { title: 'One' },
      { 'content-type': FIRST_FORM },
      'newNote',
    ],
    ['no body for the second form', { title: 'One' }, {}, 'body'],
  ])('rejects by POST %s', async (_, body, accept, field) => {
    const ada = await signIn()

    const answer = await call('POST', '/api/notes', body, { ...ada, ...accept })

    expect(answer.body).toEqual(validationError(field, 'Invalid input: expected string, received undefined'))
    expect(varyOf(answer)).toEqual(expect.arrayContaining(['Accept', 'Datastar-Request']))
  })

  test.each<Record<string, string>>([{}, { accept: FIRST_FORM }, { 'datastar-request': 'true' }])(
    'rejects a caller without credentials in each form: %j',
    async (headers) => {
      const answer = await call('GET', '/api/notes', undefined, headers)

      expect(answer.body).toEqual(unauthorized)
      expect(varyOf(answer)).toEqual(expect.arrayContaining(['Accept', 'Datastar-Request']))
    },
  )
})
