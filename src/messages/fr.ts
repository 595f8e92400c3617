import type { Catalogue } from './en.ts'

export const fr: Catalogue = {
  reserved:
    'Merci, {name}. {guests, plural, one {# place est réservée} many {# de places sont réservées} other {# places sont réservées}}.',
  refused: 'La réservation enfreint une règle',
  nameBlank: 'Veuillez saisir un nom.',
  guestsNotWhole: 'Veuillez saisir un nombre entier de places.',
  guestsTooFew:
    'Veuillez réserver au moins {min, plural, one {# place} many {# de places} other {# places}}.',
  guestsTooMany:
    'Veuillez réserver au maximum {max, plural, one {# place} many {# de places} other {# places}}.',
}
