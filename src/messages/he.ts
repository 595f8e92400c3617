import type { Catalogue } from './en.ts'

export const he: Catalogue = {
  reserved:
    'תודה, {name}. {guests, plural, one {הוזמן מקום אחד} two {הוזמנו שני מקומות} other {הוזמנו # מקומות}}.',
  refused: 'ההזמנה מפרה את אחד הכללים',
  nameBlank: 'נא להזין שם.',
  guestsNotWhole: 'נא להזין מספר שלם של מקומות.',
  guestsTooFew: 'נא להזמין לפחות {min, plural, one {מקום אחד} two {שני מקומות} other {# מקומות}}.',
  guestsTooMany: 'נא להזמין לכל היותר {max, plural, one {מקום אחד} two {שני מקומות} other {# מקומות}}.',
}
