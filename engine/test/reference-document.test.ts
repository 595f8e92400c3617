import { describe, expect, test } from 'vitest'

import { app as albums } from './albums/app.ts'
import { app as desk } from './desk/app.ts'
import { findUndocumented } from './fixtures/reference-difference.ts'
import { app as helpDesk } from './help-desk/app.ts'
import { app as library } from './library/app.ts'
import { app as tracker } from './tracker/app.ts'

describe('the document of the reference page', () => {
  test.each([
    ['albums', albums],
    ['desk', desk],
    ['help desk', helpDesk],
    ['library', library],
    ['tracker', tracker],
  ])('of the %s says nothing that the OpenAPI document and the contract do not say', async (_, app) => {
    expect(await findUndocumented(app)).toEqual([])
  })

  test('would show a text from elsewhere', async () => {
    const found = await findUndocumented(library, (procedure) => ({
      ...procedure,
      description: 'postgres://user:password@host',
    }))

    expect(found).toEqual(['postgres://user:password@host'])
  })

  test('would show a field from elsewhere', async () => {
    const change = findUndocumented(library, (procedure) => ({ ...procedure, handler: 'books.ts' }))

    await expect(change).rejects.toThrow('handler')
  })
})
