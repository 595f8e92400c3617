import type { Catalogue } from './en.ts'

export const pl: Catalogue = {
  reserved:
    'Dziękujemy, {name}. Zarezerwowano {guests, plural, one {# miejsce} few {# miejsca} many {# miejsc} other {# miejsca}}.',
  refused: 'Rezerwacja narusza jedną z zasad',
  nameBlank: 'Proszę podać imię.',
  guestsNotWhole: 'Proszę podać liczbę miejsc jako liczbę całkowitą.',
  guestsTooFew:
    'Proszę zarezerwować co najmniej {min, plural, one {# miejsce} few {# miejsca} many {# miejsc} other {# miejsca}}.',
  guestsTooMany:
    'Proszę zarezerwować co najwyżej {max, plural, one {# miejsce} few {# miejsca} many {# miejsc} other {# miejsca}}.',
}
