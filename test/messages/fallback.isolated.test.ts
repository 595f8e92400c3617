import { expect, test, vi } from 'vitest'

import { negotiateLanguage } from '../../src/translation/index.ts'

vi.mock('../../src/messages/fa.ts', () => ({
  server: { operations: {}, resources: { notes: 'یادداشت‌ها' } },
}))

const { translate, translateResources } = negotiateLanguage('fa')

test('a message without a translation is English, with the digits and plural forms of English', () => {
  expect(translate('guestsTooMany', { max: 0 })).toBe('Please reserve at most 0 seats.')
  expect(translate('guestsTooMany', { max: 1 })).toBe('Please reserve at most 1 seat.')
})

test('a resource without a translation has its English name', () => {
  expect(translateResources(['tasks', 'notes'])).toBe('tasks و یادداشت‌ها')
})
