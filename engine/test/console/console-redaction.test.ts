import { describe, expect, test } from 'vitest'

import { describeValue, isSecretName } from '../../console/redaction.ts'

describe('a name', () => {
  test.each([
    ...['token', 'accessToken', 'id_token', 'clientSecret', 'password', 'passwd', 'cookie', 'Authorization'],
    ...[
      'code',
      'CODE',
      'backup_codes',
      'userCode',
      'code_verifier',
      'passcode',
      'code_hash',
      'otp',
      'signInOtp',
    ],
    ...[
      'apiKey',
      'API_KEY',
      'apikey',
      'api_keys',
      'oauth2Key',
      'privatekey',
      'credentials',
      'jwt',
      'pin',
      'user_pin',
    ],
  ])('%s is of a secret', (name) => {
    expect(isSecretName(name)).toBe(true)
  })

  test.each([
    ...[
      'id',
      'session_id',
      'userId',
      'title',
      'scope',
      'state',
      'status',
      'encoded',
      'monkey',
      'keyboard',
      'spin',
    ],
    ...['pinned', 'shipping', 'author', 'codec', 'passenger', 'bypass'],
  ])('%s is of no secret', (name) => {
    expect(isSecretName(name)).toBe(false)
  })
})

describe('a value', () => {
  test('has no secrets at any depth', () => {
    const value = { user: [{ name: 'Ada', password: 'SENTINEL', token: null, keys: ['SENTINEL'] }] }

    expect(describeValue(value, false)).toBe(
      '{"user":[{"name":"Ada","password":"(removed)","token":null,"keys":"(removed)"}]}',
    )
  })

  test.each([
    ['with a key __proto__', JSON.parse('{"__proto__":{"a":1},"password":"SENTINEL"}')],
    ['of an error', Object.assign(new Error('x'), { password: 'SENTINEL' })],
    ['in a Map', new Map([['x', { password: 'SENTINEL' }]])],
    [
      'with toJSON in a class',
      new (class Account {
        toJSON = () => ({ password: 'SENTINEL' })
      })(),
    ],
  ])('%s has no secrets', (_, value: unknown) => {
    expect(describeValue(value, false)).toContain('(removed)')
    expect(describeValue(value, false)).not.toContain('SENTINEL')
  })

  test('of a procedure with secrets has no texts', () => {
    expect(describeValue({ id: 'SENTINEL', list: ['SENTINEL'], count: 1 }, true)).toBe(
      '{"id":"(removed)","list":["(removed)"],"count":1}',
    )
  })

  const cycle: Record<string, unknown> = {}
  cycle.cycle = cycle

  // The process would end, because the description runs after the answer.
  test.each([
    ['a cycle', cycle],
    [
      'a member that throws',
      {
        get name(): string {
          throw new Error('No name')
        },
      },
    ],
    ['a function', () => undefined],
  ])('with %s does not throw', (_, value: unknown) => {
    expect(describeValue(value, false)).toBe('"(a value that JSON cannot represent)"')
  })
})
