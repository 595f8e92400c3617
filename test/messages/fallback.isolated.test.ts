import { expect, test, vi } from 'vitest'

import { createPageTranslator } from '../../engine/html/page-translator.ts'
import { negotiateLanguage, resourceNames } from '../../src/texts.ts'

vi.mock('../../src/messages/fa.ts', () => ({
  server: { operations: {}, resources: { notes: 'یادداشت‌ها' } },
}))

test('a message without a translation is English, with the digits and plural forms of English', () => {
  const { translate } = negotiateLanguage('fa')

  expect(translate('guestsTooMany', { max: 0 })).toBe('Please reserve at most 0 seats.')
  expect(translate('guestsTooMany', { max: 1 })).toBe('Please reserve at most 1 seat.')
})

test('a resource without a translation has its English name', () => {
  const { translateResources } = createPageTranslator({ name: 'Tallystick', resourceNames }, 'fa')

  expect(translateResources(['tasks', 'notes'])).toBe('tasks و یادداشت‌ها')
})
