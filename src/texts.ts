import type { Language } from 'tallystick-contract'
import { createTranslation } from 'tallystick'

import { server as am } from './messages/am.ts'
import { server as ar } from './messages/ar.ts'
import { server as de } from './messages/de.ts'
import { type Server, server as en } from './messages/en.ts'
import { server as es } from './messages/es.ts'
import { server as fa } from './messages/fa.ts'
import { server as fr } from './messages/fr.ts'
import { server as he } from './messages/he.ts'
import { server as hi } from './messages/hi.ts'
import { server as it } from './messages/it.ts'
import { server as ja } from './messages/ja.ts'
import { server as ko } from './messages/ko.ts'
import { server as pl } from './messages/pl.ts'
import { server as ptBR } from './messages/pt-BR.ts'
import { server as ru } from './messages/ru.ts'
import { server as th } from './messages/th.ts'
import { server as tr } from './messages/tr.ts'
import { server as uk } from './messages/uk.ts'
import { server as zhHans } from './messages/zh-Hans.ts'
import { server as zhHant } from './messages/zh-Hant.ts'

/** The texts of the server. */
export const catalogues: Record<Language, Server> = {
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

export const { negotiateLanguage } = createTranslation(catalogues)
