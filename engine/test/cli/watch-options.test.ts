import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { RowId, topic } from 'tallystick-contract'

import { addWatchOptions, type WatchOptions } from '../../cli/watch-options.ts'

const state = z.object({})
const status = z.enum(['open', 'closed']).optional()
const topics = [
  topic('visits', { access: 'public', state }),
  topic('loans', { access: 'signedIn', state, input: z.object({ status, limit: z.int().optional() }) }),
  topic('tickets', {
    access: 'signedIn',
    state,
    input: z.object({ projectId: RowId, status }),
    of: 'projectId',
  }),
]

/** Returns the inputs of the topics for the options of a command line. */
function readOptions(...words: string[]) {
  const command = new Command().argument('<topics...>').exitOverride()
  const readInputs = addWatchOptions(command, topics)
  command.parse(words, { from: 'user' })
  return readInputs(command.opts<WatchOptions>())
}

describe('the options of tallystick watch', () => {
  test('become the input of each topic with this field', () => {
    expect(readOptions('visits', 'loans', '--status', 'open', '--limit', '5')).toEqual({
      loans: { status: 'open', limit: 5 },
    })
    expect(readOptions('visits')).toEqual({})
  })

  test('name several parents, each with the same filter', () => {
    const { tickets } = readOptions('--projectId', '1', 'tickets', '--projectId', '2', '--status', 'open')

    expect(tickets).toEqual([
      { projectId: 1, status: 'open' },
      { projectId: 2, status: 'open' },
    ])
  })

  test('must be whole numbers if the field is', () => {
    expect(() => readOptions('tickets', '--projectId', 'one')).toThrow(
      '--projectId one: must be a whole number',
    )
  })
})
