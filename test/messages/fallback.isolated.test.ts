import { expect, test, vi } from 'vitest'

import { createPageTranslator } from '../../engine/html/page-translator.ts'
import { negotiateLanguage } from '../../src/texts.ts'

vi.mock('../../src/messages/fa.ts', () => ({
  server: {},
}))

test('a message without a translation is English, with the digits and plural forms of English', () => {
  const { translate } = negotiateLanguage('fa')

  expect(translate('guestsTooMany', { max: 0 })).toBe('Please reserve at most 0 seats.')
  expect(translate('guestsTooMany', { max: 1 })).toBe('Please reserve at most 1 seat.')
})

test('a resource without a translation has its English name', () => {
  const { translateResources } = createPageTranslator({ name: 'Tallystick' }, 'fa')

  expect(translateResources([{ en: 'tasks' }, { en: 'notes', fa: 'یادداشت‌ها' }])).toBe('tasks و یادداشت‌ها')
})
