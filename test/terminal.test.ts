import { describe, expect, test } from 'vitest'

import { terminalJson, terminalLine } from '../src/cli/terminal.ts'

const STEERING = /(?!\n)\p{Cc}|\p{Bidi_Control}/u
const hostile = { title: 'a\u001b[2J\u009b31m\u007f\u202e\u2066\u200f\u061c"\\', count: 1 }

describe('text for a terminal', () => {
  test('is JSON of the same value, without a character that steers the terminal', () => {
    expect(JSON.stringify(hostile)).toMatch(STEERING)

    expect(terminalJson(hostile)).not.toMatch(STEERING)
    expect(JSON.parse(terminalJson(hostile))).toEqual(hostile)
  })

  test('is a line without such a character', () => {
    expect(terminalLine(`${hostile.title}\n`)).not.toMatch(/\n|\p{Cc}|\p{Bidi_Control}/u)
  })
})
