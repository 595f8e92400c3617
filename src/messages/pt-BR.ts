import type { Catalogue } from './en.ts'

export const ptBR: Catalogue = {
  reserved:
    'Agradecemos a reserva, {name}. {guests, plural, one {# lugar está reservado} many {# de lugares estão reservados} other {# lugares estão reservados}}.',
  refused: 'A reserva viola uma regra',
  nameBlank: 'Por favor, informe um nome.',
  guestsNotWhole: 'Por favor, informe um número inteiro de lugares.',
  guestsTooFew:
    'Por favor, reserve pelo menos {min, plural, one {# lugar} many {# de lugares} other {# lugares}}.',
  guestsTooMany:
    'Por favor, reserve no máximo {max, plural, one {# lugar} many {# de lugares} other {# lugares}}.',
}
