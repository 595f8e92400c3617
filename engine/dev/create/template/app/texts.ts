import { createTexts } from 'tallystick-dev/page'

import { ideas } from './texts/ideas.ts'

/** The English texts of this application, in ICU MessageFormat. Every page has the texts of the frame already. */
const english = {
  introduction: 'Sign in with your e-mail address. The first sign-in creates an account.',
  welcome: 'You are signed in. Choose a view above.',
  ...ideas,
}

/** For a further language, return its texts: `language === 'de' ? import('./german.ts') : …`. */
export const texts = createTexts((language) => (language === 'en' ? Promise.resolve(english) : undefined))

export const { useLanguage } = texts

export type Message = Parameters<ReturnType<typeof useLanguage>['t']>[0]
