import type { Catalogue } from './en.ts'

export const tr: Catalogue = {
  reserved: 'Teşekkür ederiz, {name}. {guests, plural, one {# yer} other {# yer}} ayrıldı.',
  refused: 'Rezervasyon bir kurala aykırı',
  nameBlank: 'Lütfen bir ad girin.',
  guestsNotWhole: 'Lütfen yer sayısını tam sayı olarak girin.',
  guestsTooFew: 'Lütfen en az {min, plural, one {# yer} other {# yer}} ayırtın.',
  guestsTooMany: 'Lütfen en fazla {max, plural, one {# yer} other {# yer}} ayırtın.',
}
