import type { Language } from '../../contract/languages.ts'
import { am } from './am.ts'
import { ar } from './ar.ts'
import { de } from './de.ts'
import { type Catalogue, en, type Message } from './en.ts'
import { es } from './es.ts'
import { fa } from './fa.ts'
import { fr } from './fr.ts'
import { he } from './he.ts'
import { hi } from './hi.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import { ko } from './ko.ts'
import { pl } from './pl.ts'
import { ptBR } from './pt-BR.ts'
import { ru } from './ru.ts'
import { th } from './th.ts'
import { tr } from './tr.ts'
import { uk } from './uk.ts'
import { zhHans } from './zh-Hans.ts'
import { zhHant } from './zh-Hant.ts'

/** The catalogues by language tag (BCP 47). */
export const catalogues = {
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
} satisfies Record<Language, Catalogue>

export type { Message }
export const isMessage = (key: string): key is Message => Object.hasOwn(en, key)
