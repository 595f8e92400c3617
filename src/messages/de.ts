import type { Catalogue } from './en.ts'

export const de: Catalogue = {
  reserved: 'Vielen Dank, {name}. {guests, plural, one {# Platz ist} other {# Plätze sind}} reserviert.',
  refused: 'Die Reservierung verstößt gegen eine Regel',
  nameBlank: 'Bitte geben Sie einen Namen ein.',
  guestsNotWhole: 'Bitte geben Sie die Anzahl der Plätze als ganze Zahl ein.',
  guestsTooFew: 'Bitte reservieren Sie mindestens {min, plural, one {# Platz} other {# Plätze}}.',
  guestsTooMany: 'Bitte reservieren Sie höchstens {max, plural, one {# Platz} other {# Plätze}}.',
}
