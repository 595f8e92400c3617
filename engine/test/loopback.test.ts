import { expect, test } from 'vitest'

import { isLoopback } from '../settings/loopback.ts'

test.each([
  'localhost',
  'app.localhost',
  'LOCALHOST',
  '127.0.0.1',
  '127.8.9.1',
  '::1',
  '[::1]',
  '::ffff:127.0.0.1',
])('%s is this machine only', (host) => {
  expect(isLoopback(host)).toBe(true)
})

test.each(['example.com', 'localhost.example.com', '0.0.0.0', '::', '10.0.0.1', '198.51.100.7', ''])(
  '%s is not this machine only',
  (host) => {
    expect(isLoopback(host)).toBe(false)
  },
)
