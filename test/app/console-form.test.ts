import { expect, test } from 'vitest'

import { fieldsOf } from '../../pages/console/procedures/schema.ts'

test('the form of the console begins with the parameters of the path, and then has the required fields', () => {
  const schema = {
    type: 'object',
    properties: { note: {}, title: {}, memberId: {}, id: {} },
    required: ['title', 'memberId', 'id'],
  }

  const names = fieldsOf(schema, '/api/books/{id}/members/{+memberId}')?.map(({ name }) => name)

  expect(names).toEqual(['id', 'memberId', 'title', 'note'])
})
