import type { Language } from 'tallystick-contract'

import { createTranslation, selectTexts } from './translation.ts'
import { texts as am } from './messages/am.ts'
import { texts as ar } from './messages/ar.ts'
import { texts as de } from './messages/de.ts'
import { type Texts, texts as en } from './messages/en.ts'
import { texts as es } from './messages/es.ts'
import { texts as fa } from './messages/fa.ts'
import { texts as fr } from './messages/fr.ts'
import { texts as he } from './messages/he.ts'
import { texts as hi } from './messages/hi.ts'
import { texts as it } from './messages/it.ts'
import { texts as ja } from './messages/ja.ts'
import { texts as ko } from './messages/ko.ts'
import { texts as pl } from './messages/pl.ts'
import { texts as ptBR } from './messages/pt-BR.ts'
import { texts as ru } from './messages/ru.ts'
import { texts as th } from './messages/th.ts'
import { texts as tr } from './messages/tr.ts'
import { texts as uk } from './messages/uk.ts'
import { texts as zhHans } from './messages/zh-Hans.ts'
import { texts as zhHant } from './messages/zh-Hant.ts'

/** The texts of every application. */
export const catalogues: Record<Language, Texts> = {
  am,
  ar,
  de,
  en,
  es,
  fa,
  fr,
  he,
  hi,
  it,
  ja,
  ko,
  pl,
  'pt-BR': ptBR,
  ru,
  th,
  tr,
  uk,
  'zh-Hans': zhHans,
  'zh-Hant': zhHant,
}

export type Message = keyof Texts

export const { isMessage, negotiateLanguage } = createTranslation<Message>(catalogues)

/** The name of the account, for the consent page. */
export const accountNames = selectTexts(catalogues, ({ account }) => account)
