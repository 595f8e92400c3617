import { describe, expect, expectTypeOf, test } from 'vitest'

import { isDefinedError, safe } from '../contract/client.ts'
import { languages } from '../engine/contract/languages.ts'
import { negotiateLanguage } from '../src/texts.ts'
import { createFetch } from '../engine/test/fixtures/http.ts'
import { describeTransports, startService, transports } from './fixtures/service.ts'

const service = await startService()
const call = createFetch(service)

const rules = {
  name: 'Please enter a name.',
  whole: 'Please enter a whole number of seats.',
  few: 'Please reserve at least 1 seat.',
  many: 'Please reserve at most 20 seats.',
}

describeTransports(service, ({ person, stranger }) => {
  describe('reservations.create', () => {
    test.each([
      [1, 'Thank you, Ada. 1 seat is reserved.'],
      [2, 'Thank you, Ada. 2 seats are reserved.'],
      [20, 'Thank you, Ada. 20 seats are reserved.'],
    ])('confirms %d guests with the trimmed name', async (guests, message) => {
      expect(await stranger.reservations.create({ name: '  Ada\n', guests })).toEqual({ message })
    })

    test('uses a name literally', async () => {
      const name = `{guests} <b>#</b> O'Neil '{'`

      expect(await stranger.reservations.create({ name, guests: 2 })).toEqual({
        message: `Thank you, ${name}. 2 seats are reserved.`,
      })
    })

    test('accepts reservations of authenticated callers as well', async () => {
      const ada = await person()

      expect(await ada.reservations.create({ name: 'Ada', guests: 4 })).toEqual({
        message: 'Thank you, Ada. 4 seats are reserved.',
      })
    })

    test.each([
      ['  ', 4, { name: rules.name }],
      ['', 4, { name: rules.name }],
      ['Ada', 0, { guests: rules.few }],
      ['Ada', -1, { guests: rules.few }],
      ['Ada', 21, { guests: rules.many }],
      ['Ada', 1e300, { guests: rules.many }],
      ['Ada', 1.5, { guests: rules.whole }],
      ['Ada', 0.5, { guests: rules.whole }],
      ['Ada', 20.5, { guests: rules.whole }],
      [' ', 0.5, { name: rules.name, guests: rules.whole }],
    ])('returns the first violated rule of each field for %j and %d', async (name, guests, data) => {
      const { error } = await safe(stranger.reservations.create({ name, guests }))

      if (!isDefinedError(error)) throw new Error('Expected a defined error')
      expectTypeOf(error.code).toEqualTypeOf<'INVALID_RESERVATION'>()
      expectTypeOf(error.data).toEqualTypeOf<{ name?: string | undefined; guests?: string | undefined }>()
      expect(error.toJSON()).toEqual({
        defined: true,
        code: 'INVALID_RESERVATION',
        status: 400,
        message: 'The reservation breaks a rule',
        data,
      })
    })

    test.each([
      ['guests', { name: 'Ada', guests: '4' }],
      ['guests', { name: 'Ada', guests: null }],
      ['guests', { name: 'Ada' }],
      ['name', { name: 5, guests: 4 }],
      ['name', { name: 'A\0da', guests: 4 }],
      ['name', { guests: 4 }],
    ])('rejects a malformed %s: %j', async (path, input) => {
      await expect(stranger.reservations.create(input as never)).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        defined: false,
        status: 400,
        data: { issues: [{ path, message: expect.any(String) }] },
      })
    })
  })
})

describe.each(transports)('%s', (_, connect) => {
  const reserve = (language: string, input: { name: string; guests: number }) =>
    connect(service, { 'accept-language': language }).reservations.create(input)

  describe('reservations.create', () => {
    test.each([
      ['pl', ['1 miejsce', '2 miejsca', '5 miejsc', '12 miejsc']],
      ['ru', ['1 место', '2 места', '5 мест', '12 мест']],
      ['ar', ['مقعد واحد', 'مقعدين', '5 مقاعد', '12 مقعدًا']],
    ])('uses the plural forms of %s', async (language, counted) => {
      const answers = await Promise.all(
        [1, 2, 5, 12].map((guests) => reserve(language, { name: 'Ada', guests })),
      )

      for (const [index, { message }] of answers.entries())
        expect(message.endsWith(` ${counted[index]}.`), message).toBe(true)
    })

    test('returns violated rules in the language of the caller', async () => {
      await expect(reserve('de', { name: ' ', guests: 21 })).rejects.toMatchObject({
        code: 'INVALID_RESERVATION',
        defined: true,
        message: 'Die Reservierung verstößt gegen eine Regel',
        data: {
          name: 'Bitte geben Sie einen Namen ein.',
          guests: 'Bitte reservieren Sie höchstens 20 Plätze.',
        },
      })
    })

    test('has a different text for everything in each language', async () => {
      const refusals = [
        { name: ' ', guests: 1 },
        { name: 'Ada', guests: 1.5 },
        { name: 'Ada', guests: 0 },
        { name: 'Ada', guests: 21 },
      ]

      const said = await Promise.all(
        languages.map(async (language) => {
          const { message } = await reserve(language, { name: 'Ada', guests: 3 })
          const errors = await Promise.all(refusals.map((input) => safe(reserve(language, input))))
          const texts = errors.map(({ error }) => isDefinedError(error) && JSON.stringify(error.data))
          return [message, errors[0]?.error?.message, ...texts]
        }),
      )

      for (const index of [0, 1, 2, 3, 4, 5])
        expect(new Set(said.map((texts) => texts[index])).size).toBe(languages.length)
      expect(said.every(([message]) => String(message).includes('Ada'))).toBe(true)
    })
  })
})

describe('reservations.create', () => {
  const bodies = { whole: { name: 'Ada', guests: 3 }, broken: { name: ' ', guests: 3 } }

  test.each(languages)('sets Content-Language: %s', async (language) => {
    const headers = { 'accept-language': language }

    const reserved = await call('POST', '/api/reservations', bodies.whole, headers)
    const broken = await call('POST', '/api/reservations', bodies.broken, headers)
    const overRpc = await call('POST', '/rpc/reservations/create', { json: bodies.whole }, headers)

    for (const answer of [reserved, broken, overRpc]) {
      expect(answer.headers.get('content-language')).toBe(language)
      expect(answer.headers.get('vary')?.split(/, */)).toContain('Accept-Language')
    }
    expect([reserved.status, broken.status]).toEqual([200, 400])
    expect(overRpc.body).toEqual({ json: reserved.body })
  })

  test.each(languages)('returns errors in one language only: %s', async (language) => {
    const headers = { 'accept-language': language }
    const message = negotiateLanguage(language).translate('refused')

    const { body } = await call('POST', '/api/reservations', bodies.broken, headers)
    const overRpc = await call('POST', '/rpc/reservations/create', { json: bodies.broken }, headers)

    expect(body).toMatchObject({ code: 'INVALID_RESERVATION', message, error: message })
    expect(overRpc.body).toMatchObject({ json: { code: 'INVALID_RESERVATION', message } })
    expect(overRpc.headers.get('content-language')).toBe(language)
  })

  test('rejects a malformed body in English, without Content-Language', async () => {
    const malformed = { name: 5, guests: 'two' }
    const { body, headers } = await call('POST', '/api/reservations', malformed, { 'accept-language': 'de' })

    expect(body).toMatchObject({ code: 'BAD_REQUEST', error: 'Input validation failed' })
    expect(headers.get('content-language')).toBeNull()
  })

  test.each([
    ['zh-TW', 'zh-Hant'],
    ['zh-HK', 'zh-Hant'],
    ['zh-CN', 'zh-Hans'],
    ['zh', 'zh-Hans'],
    ['pt-PT', 'pt-BR'],
    ['iw', 'he'],
    ['de-AT', 'de'],
    ['DE', 'de'],
    ['fr;q=0.1, ja;q=0.9', 'ja'],
    ['tlh, ja;q=0.1', 'ja'],
    ['fr;q=0, ja;q=0.1', 'ja'],
    ['fr;q=0', 'en'],
    ['*', 'en'],
    ['tlh', 'en'],
    ['', 'en'],
    [';;=,q', 'en'],
    ['x'.repeat(2000), 'en'],
  ])('negotiates %j as %s', async (wanted, language) => {
    const { status, headers } = await call('POST', '/api/reservations', bodies.whole, {
      'accept-language': wanted,
    })

    expect(status).toBe(200)
    expect(headers.get('content-language')).toBe(language)
  })
})

describe('Accept-Language', () => {
  test('examines a limited number of languages in Accept-Language', async () => {
    const tags = Array.from({ length: 4000 }, (_, index) => `x${index.toString(36)}`).join()
    const headers = { 'accept-language': tags.slice(0, 15_000) }

    const answer = await call('POST', '/api/reservations', { name: 'Ada', guests: 2 }, headers)

    expect(answer.headers.get('content-language')).toBe('en')
  })

  test.each([
    [50, 'de'],
    [51, 'en'],
  ])('finds a language at position %i: %s', async (position, language) => {
    const headers = { 'accept-language': `${'tlh;q=0.1,'.repeat(position - 1)}de` }

    const answer = await call('POST', '/api/reservations', { name: 'Ada', guests: 2 }, headers)

    expect(answer.headers.get('content-language')).toBe(language)
  })
})

describe('problem details', () => {
  test('are in the language of the caller', async () => {
    const headers = { 'accept-language': 'de' }
    const input = { name: '', guests: 0 }

    const answer = await call('POST', '/api/reservations', input, {
      ...headers,
      accept: 'application/problem+json',
    })

    const { body: usual } = await call('POST', '/api/reservations', input, headers)
    const { message, data } = usual as { message: string; data: object }
    expect(answer.headers.get('content-language')).toBe('de')
    expect(answer.body).toMatchObject({
      code: 'INVALID_RESERVATION',
      detail: message,
      data,
    })
  })
})
