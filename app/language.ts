import { createTexts } from 'tallystick-dev/page'

import type { Page } from '../src/messages/en.ts'

/** Each language is a chunk of its own, without the texts of the server. */
const catalogues = import.meta.glob<Page>('../src/messages/*.ts', { import: 'page' })

export const texts = createTexts((language) => catalogues[`../src/messages/${language}.ts`]?.())

/** Returns the texts and formats of the current language. */
export const { useLanguage } = texts

export type Message = Parameters<ReturnType<typeof useLanguage>['t']>[0]
