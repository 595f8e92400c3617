import { describe, expect, test } from 'vitest'

import { terminalJson, terminalLine } from '../../values/terminal.ts'

const CONTROL_CHARACTER = /(?!\n)\p{Cc}|\p{Bidi_Control}/u
const hostile = { title: 'a\u001b[2J\u009b31m\u007f\u202e\u2066\u200f\u061c"\\', count: 1 }

describe('text for a terminal', () => {
  test('is JSON of the same value without terminal control characters', () => {
    expect(JSON.stringify(hostile)).toMatch(CONTROL_CHARACTER)

    expect(terminalJson(hostile)).not.toMatch(CONTROL_CHARACTER)
    expect(JSON.parse(terminalJson(hostile))).toEqual(hostile)
  })

  test('is one line without terminal control characters', () => {
    expect(terminalLine(`${hostile.title}\n`)).not.toMatch(/\n|\p{Cc}|\p{Bidi_Control}/u)
  })
})
