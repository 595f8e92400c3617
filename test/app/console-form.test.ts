import { expect, test } from 'vitest'

import { findPosition } from '../../pages/console/position.ts'
import { exampleOf, fieldsOf } from '../../pages/console/procedures/schema.ts'

test('the form of the console begins with the parameters of the path, and then has the required fields', () => {
  const schema = {
    type: 'object',
    properties: { note: {}, title: {}, memberId: {}, id: {} },
    required: ['title', 'memberId', 'id'],
  }

  const names = fieldsOf(schema, '/api/books/{id}/members/{+memberId}')?.map(({ name }) => name)

  expect(names).toEqual(['id', 'memberId', 'title', 'note'])
})

test('the first input of the console has the examples of the output, and something to change', () => {
  const schema = {
    type: 'object',
    properties: { id: { examples: [7] }, title: { type: 'string' }, note: { type: 'string' } },
    required: ['id', 'title'],
  }
  const output = { id: 1, title: 'An example', note: 'A note' }

  expect(exampleOf(schema)).toEqual({ id: 7 })
  expect(exampleOf(schema, output)).toEqual({ id: 7, title: 'An example' })
  expect(exampleOf(schema, output, true)).toEqual({ id: 7, title: 'An example', note: 'A note' })
})

test.each([
  ['    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)', undefined],
  ['    at async node:internal/process/task_queues:95:5', undefined],
  ['    at run (/app/node_modules/pg/index.js:1:2)', undefined],
  ['    at async Object.create (file:///app/src/ideas.ts:33:36)', '/app/src/ideas.ts:33:36'],
  ['    at async /app/src/ideas.ts:3:6', '/app/src/ideas.ts:3:6'],
  ['    at new Idea [as make] (/app/my ideas/idea.ts:3:6)', '/app/my ideas/idea.ts:3:6'],
  [String.raw`    at find (C:\app\src\ideas.ts:3:6)`, String.raw`C:\app\src\ideas.ts:3:6`],
])('the console finds the position in the frame %j', (frame, expected) => {
  const position = findPosition(frame)

  expect(position && `${position.file}:${position.line}:${position.column}`).toBe(expected)
})
