import type { Catalogue } from './en.ts'

export const uk: Catalogue = {
  reserved:
    'Дякуємо, {name}. Заброньовано {guests, plural, one {# місце} few {# місця} many {# місць} other {# місця}}.',
  refused: 'Бронювання порушує одне з правил',
  nameBlank: 'Будь ласка, введіть ім’я.',
  guestsNotWhole: 'Будь ласка, вкажіть кількість місць цілим числом.',
  guestsTooFew:
    'Будь ласка, забронюйте щонайменше {min, plural, one {# місце} few {# місця} many {# місць} other {# місця}}.',
  guestsTooMany:
    'Будь ласка, забронюйте щонайбільше {max, plural, one {# місце} few {# місця} many {# місць} other {# місця}}.',
}
