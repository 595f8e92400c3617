import { expect, test } from 'vitest'

import { parseAccept, preferredCoding, preferredMediaType } from '../../http/server/accept.ts'

const json = 'application/json'

test('Accept is evaluated up to its 50th element', () => {
  expect(parseAccept('a/b,'.repeat(7600))).toHaveLength(50)
  expect(preferredMediaType(`${'a/b,'.repeat(49)}${json}`, [json])).toBe(json)
  expect(preferredMediaType(`${'a/b,'.repeat(50)}${json}`, [json])).toBeUndefined()
})

test('Accept is evaluated up to its 4,096th character', () => {
  const long = `a/b${';c=d'.repeat(1000)}`

  expect(preferredMediaType(`${json}, ${long}`, [json])).toBe(json)
  expect(preferredMediaType(`${long}, ${long}, ${json}`, [json])).toBeUndefined()
  expect(parseAccept(long + long)).toEqual([])
})

test('Accept-Encoding is evaluated up to its 50th element', () => {
  expect(preferredCoding(`${'x,'.repeat(49)}gzip`)).toBe('gzip')
  expect(preferredCoding(`${'x,'.repeat(50)}gzip`)).toBeUndefined()
})
