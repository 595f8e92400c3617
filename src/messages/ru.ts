import type { Catalogue } from './en.ts'

export const ru: Catalogue = {
  reserved:
    'Спасибо, {name}. Забронировано {guests, plural, one {# место} few {# места} many {# мест} other {# места}}.',
  refused: 'Бронирование нарушает одно из правил',
  nameBlank: 'Пожалуйста, введите имя.',
  guestsNotWhole: 'Пожалуйста, укажите количество мест целым числом.',
  guestsTooFew:
    'Пожалуйста, забронируйте не менее {min, plural, one {# места} few {# мест} many {# мест} other {# места}}.',
  guestsTooMany:
    'Пожалуйста, забронируйте не более {max, plural, one {# места} few {# мест} many {# мест} other {# места}}.',
}
