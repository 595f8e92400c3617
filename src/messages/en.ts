/** The source catalogue, in ICU MessageFormat. The catalogue of every other language has exactly these keys. */
export const en = {
  reserved: 'Thank you, {name}. {guests, plural, one {# seat is} other {# seats are}} reserved.',
  refused: 'The reservation breaks a rule',
  nameBlank: 'Please enter a name.',
  guestsNotWhole: 'Please enter a whole number of seats.',
  guestsTooFew: 'Please reserve at least {min, plural, one {# seat} other {# seats}}.',
  guestsTooMany: 'Please reserve at most {max, plural, one {# seat} other {# seats}}.',
}

export type Catalogue = typeof en
export type Message = keyof Catalogue
