import type { Catalogue } from './en.ts'

export const es: Catalogue = {
  reserved:
    'Gracias, {name}. {guests, plural, one {Se ha reservado # asiento} many {Se han reservado # de asientos} other {Se han reservado # asientos}}.',
  refused: 'La reserva incumple una regla',
  nameBlank: 'Por favor, indique un nombre.',
  guestsNotWhole: 'Por favor, indique un número entero de asientos.',
  guestsTooFew:
    'Por favor, reserve al menos {min, plural, one {# asiento} many {# de asientos} other {# asientos}}.',
  guestsTooMany:
    'Por favor, reserve como máximo {max, plural, one {# asiento} many {# de asientos} other {# asientos}}.',
}
