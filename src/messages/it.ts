import type { Catalogue } from './en.ts'

export const it: Catalogue = {
  reserved:
    'Grazie, {name}. {guests, plural, one {È stato prenotato # posto} many {Sono stati prenotati # di posti} other {Sono stati prenotati # posti}}.',
  refused: 'La prenotazione viola una regola',
  nameBlank: 'Si prega di inserire un nome.',
  guestsNotWhole: 'Si prega di inserire un numero intero di posti.',
  guestsTooFew:
    'Si prega di prenotare almeno {min, plural, one {# posto} many {# di posti} other {# posti}}.',
  guestsTooMany:
    'Si prega di prenotare al massimo {max, plural, one {# posto} many {# di posti} other {# posti}}.',
}
