import { expect, test } from 'vitest'

import { casesOf, collectCases, type ResourceCases, toAnyCases } from '../dev/testing/laws/collect.ts'
import { app } from './library/app.ts'

/** Cases of a resource without the types of an application. */
const casesWith = (id: string, name: string) =>
  ({
    prepare: () => Promise.resolve({ id }),
    calls: { [`${name}.list`]: (_: object, fixture: unknown) => Promise.resolve(fixture) },
    errors: { [`${name}.list GONE`]: (given: object) => Promise.resolve(Reflect.get(given, 'fixture')) },
  }) as unknown as ResourceCases

test('the cases of several files have the fixtures of their own files', async () => {
  const { prepare, calls, errors } = toAnyCases(
    collectCases({ './cases/a.ts': casesWith('a', 'first'), './cases/b.ts': casesWith('b', 'second') }),
  )

  const fixture = await (prepare as (people: object, text: string) => Promise<unknown>)({}, '')
  const results = Object.values(calls).flatMap((each) =>
    [each].flat().map((call) => (call as (caller: object, given: unknown) => unknown)({}, fixture)),
  )
  const causes = Object.values(errors).map((each) => (each as (given: object) => unknown)({ fixture }))

  expect(await Promise.all([...results, ...causes])).toEqual([
    { id: 'a' },
    { id: 'b' },
    { id: 'a' },
    { id: 'b' },
  ])
})

test('two files with a case for one procedure are refused', () => {
  const files = { './cases/a.ts': casesWith('a', 'first'), './cases/b.ts': casesWith('b', 'first') }

  expect(() => collectCases(files)).toThrow('Two files in test/cases have a case for first.list')
})

test('the compiler names a missing case of a resource', () => {
  // @ts-expect-error: the calls of the books are missing.
  casesOf(app, 'books', { prepare: () => Promise.resolve({}), calls: {}, errors: {} })
})
