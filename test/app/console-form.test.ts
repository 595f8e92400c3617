import { expect, test } from 'vitest'

import { findPosition } from '../../pages/console/position.ts'
import { optionsIn, resourceOf } from '../../pages/console/procedures/fields/id-options.ts'
import { toValues } from '../../pages/console/procedures/input.ts'
import { toLogLine } from '../../pages/console/requests/log-line.ts'
import { exampleOf, fieldsOf } from '../../pages/console/procedures/schema.ts'
import { boundsOf, shapeOf } from '../../pages/console/procedures/schema-fields.ts'

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

test('the first input of the console has values of required types without an example', () => {
  const schema = {
    type: 'object',
    properties: {
      email: { type: 'string', format: 'email' },
      role: { type: 'string', enum: ['reader', 'editor'] },
      isQuiet: { type: 'boolean', default: false },
      note: { type: 'string' },
    },
    required: ['email', 'role', 'isQuiet', 'note'],
  }

  expect(exampleOf(schema)).toEqual({ email: 'ada@example.com', role: 'reader', isQuiet: false })
})

test('a hint has the pattern of a text, but not the pattern of a format', () => {
  expect(boundsOf({ type: 'string', pattern: '^[a-z]+$' }).pattern).toBe('^[a-z]+$')
  expect(boundsOf({ type: 'string', format: 'email', pattern: '^.+@.+$' }).pattern).toBe('')
})

test('a hint has the names of the fields of an object', () => {
  const properties = { title: { type: 'string' }, note: { type: 'string' } }

  expect(shapeOf({ type: 'object', properties, required: ['title'] })).toBe('{ title, note? }')
  expect(shapeOf({ type: 'object' })).toBe('object')
  expect(shapeOf({ type: 'array', items: { type: 'object', properties } })).toBe('array of object')
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

test.each([
  ['id', 'tasks'],
  ['projectId', 'projects'],
  ['categoryId', 'categories'],
  ['boxId', 'boxes'],
  ['otherId', undefined],
  ['title', undefined],
])('the field %s has the ids of the resource %s', (field, expected) => {
  expect(resourceOf(field, 'tasks', ['tasks', 'projects', 'categories', 'boxes'])).toBe(expected)
})

test('the ids of a list have the name, the title or the first text of their items', () => {
  const items = [{ id: 7, note: 'A note', title: 'A title' }, { id: 'a', note: 'A note' }, { note: 'None' }]

  expect(optionsIn(JSON.stringify({ count: 3, items }))).toEqual([
    { id: '7', text: 'A title' },
    { id: 'a', text: 'A note' },
  ])
  expect(optionsIn('{"code":"UNAUTHORIZED"}')).toEqual([])
})

test('a list of choices is a field of choices, and other lists of values are JSON', () => {
  const choices = { type: 'array', items: { type: 'string', enum: ['a', 'b'] } }
  const [field] = fieldsOf({ type: 'object', properties: { choices } }, '') ?? []

  expect(field).toMatchObject({ kind: 'choices', choices: ['a', 'b'] })
  expect(field && toValues([field], { choices: ['b', 'a'] })).toEqual({ choices: '["b","a"]' })
  expect(field && toValues([field], { choices: ['c'] })).toBeUndefined()
  expect(field && toValues([field], { choices: ['a', 'a'] })).toBeUndefined()
})

test('a line of the log begins with its level and its message', () => {
  const line = { level: 40, time: 1, service: 'x', release: 'y', msg: 'slow', ms: 7 }

  expect(toLogLine(JSON.stringify(line))).toBe('warn slow {"ms":7}')
  expect(toLogLine('{"level":40,"msg":"cut')).toBe('{"level":40,"msg":"cut')
})
