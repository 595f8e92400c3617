import type { Level } from 'pino'
import { describe, expect, test } from 'vitest'

import { createLog } from '../../telemetry/log.ts'

const SETTINGS = { logLevel: 'info', service: 'a', release: 'b', production: false } as const

interface Terminal {
  level?: Level
  production?: boolean
  isTTY?: boolean
  hasColors?: () => boolean
}

/** Returns what the logger writes to a terminal for a line, without the time. */
function write(
  line: object,
  message = '',
  { level = 'info', production = false, isTTY = true, hasColors = () => false }: Terminal = {},
) {
  let written = ''
  const stream = { write: (text: string) => void (written += text) }
  createLog({ ...SETTINGS, production }, stream, { isTTY, hasColors })[level](line, message)
  return written.replace(/^\d\d:\d\d:\d\d /gm, '')
}

const REQUEST = {
  req: { id: '1', method: 'POST', path: '/api/books' },
  res: { status: 201 },
  responseTime: 6,
  operation: 'books.create',
  person: 'p1',
  personName: 'Ada',
}

describe('the log at a terminal', () => {
  test('shows a request with its operation, person and time', () => {
    expect(write(REQUEST, 'request completed')).toBe('201 books.create Ada 6 ms\n')
  })

  test('shows the path of a request without an operation', () => {
    const { operation: _, personName: __, ...request } = REQUEST

    expect(write(request)).toBe('201 POST /api/books 6 ms\n')
    expect(write({ ...request, operation: '/api/auth/sign-out' })).toBe('201 POST /api/books 6 ms\n')
  })

  test('shows the fields of another line, whatever their values are', () => {
    const line = { to: 'ada@example.com', sizes: [1, 2], name: 'x' }

    expect(write(line, 'sent')).toBe('sent to=ada@example.com sizes=[1,2] name=x\n')
    expect(write({ ...line, res: 'y' }, 'not sent', { level: 'warn' })).toContain('warning ')
    expect(write({ msg: { a: 1 }, req: null, time: 'never' })).toMatch(/\n$/)
  })

  test('shows the message, the first line of the stack, and the cause of an error', () => {
    const err = new Error('card declined\nfor good', { cause: new TypeError('no card') })

    expect(write({ err }, 'request failed', { level: 'error' }).split('\n')).toEqual([
      'error request failed',
      '  Error: card declined',
      '  for good',
      expect.stringMatching(/^ {2}at .*readable-lines\.test\.ts:\d+:\d+\)?$/) as string,
      '  TypeError: no card',
      expect.stringMatching(/^ {2}at /) as string,
      '',
    ])
  })

  test('replaces characters that control a terminal', () => {
    const req = { method: 'GET', path: '/\u001b[31m\u202e' }
    const written =
      write({ ...REQUEST, operation: undefined, req, personName: 'A\u0007' }) +
      write({ err: new Error('\u001b]0;title\u0007'), detail: '\u009b' }, 'b\u001bc', { level: 'error' })

    expect(written.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  })

  test('has colors only if the terminal has them', () => {
    expect(write(REQUEST, '', { hasColors: () => true })).toMatch(
      /\u001b\[32m201\u001b\[39m books\.create Ada \u001b\[90m6 ms\u001b\[39m\n$/,
    )
  })

  test.each([
    ['in production', { production: true }],
    ['of a stream that is no terminal', { isTTY: false }],
  ])('is JSON without the name of the person %s', (_, options) => {
    const line = JSON.parse(write(REQUEST, '', options)) as object

    expect(line).toMatchObject({ operation: 'books.create', person: 'p1' })
    expect(line).not.toHaveProperty('personName')
  })
})
