import { Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'

import { createLog } from '../../telemetry/log.ts'

const SETTINGS = { logLevel: 'info', service: 'a', release: 'b', production: false } as const

/** Returns what the logger writes to a terminal, without the time. */
function write(
  logSomething: (log: ReturnType<typeof createLog>) => void,
  { production = false, isTTY = true, hasColors = (): boolean => false } = {},
) {
  let written = ''
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      written += chunk.toString()
      done()
    },
  })
  logSomething(createLog({ ...SETTINGS, production }, stream, { isTTY, hasColors }))
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
    expect(
      write((log) => {
        log.info(REQUEST, 'request completed')
      }),
    ).toBe('201 books.create Ada 6 ms\n')
  })

  test('shows the path of a request without an operation', () => {
    const { operation: _, personName: __, ...request } = REQUEST
    expect(
      write((log) => {
        log.info(request, 'request completed')
      }),
    ).toBe('201 POST /api/books 6 ms\n')
    expect(
      write((log) => {
        log.info({ ...request, operation: '/api/auth/sign-out' })
      }),
    ).toBe('201 POST /api/books 6 ms\n')
  })

  test('shows the fields of an own line, whatever their values are', () => {
    const line = { to: 'ada@example.com', sizes: [1, 2], name: 'x', res: 'y' }
    expect(
      write((log) => {
        log.warn(line, 'not sent')
      }),
    ).toContain('warning ')
    expect(
      write((log) => {
        log.info({ to: 'ada@example.com', sizes: [1, 2], name: 'x' }, 'sent')
      }),
    ).toBe('sent to=ada@example.com sizes=[1,2] name=x\n')
    expect(
      write((log) => {
        log.info({ msg: { a: 1 }, req: null, time: 'never' })
      }),
    ).toMatch(/\n$/)
  })

  test('shows the message, the first line of the stack, and the cause of an error', () => {
    const error = new Error('card declined\nfor good', { cause: new TypeError('no card') })
    expect(
      write((log) => {
        log.error({ err: error }, 'request failed')
      }).split('\n'),
    ).toEqual([
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
    const path = '/\u001b[31m\u202e'
    const written = write((log) => {
      log.info({ ...REQUEST, operation: undefined, req: { method: 'GET', path }, personName: 'A\u0007' })
      log.error({ err: new Error('\u001b]0;title\u0007'), detail: '\u009b' }, 'b\u001bc')
    })
    expect(written.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  })

  test('has colors only if the terminal has them', () => {
    expect(
      write(
        (log) => {
          log.info(REQUEST)
        },
        { hasColors: () => true },
      ),
    ).toContain('\u001b[32m201\u001b[39m')
  })

  test.each([
    ['in production', { production: true }],
    ['of a stream that is no terminal', { isTTY: false }],
  ])('is JSON without the name of the person %s', (_, options) => {
    const line = JSON.parse(
      write((log) => {
        log.info(REQUEST)
      }, options),
    ) as object

    expect(line).toMatchObject({ operation: 'books.create', person: 'p1' })
    expect(line).not.toHaveProperty('personName')
  })
})
