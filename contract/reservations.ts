import * as z from 'zod'
import { isBlank, publicAccess, requestSchemas, responseSchemas, text } from 'tallystick-contract'

import { guestBounds } from './bounds.ts'

/**
 * Validates only the types of a reservation. Invalid types result in BAD_REQUEST. The bounds in `meta` appear
 * in the OpenAPI document, but are not validated here: ReservationRules validates the bounds.
 */
const ReservationInput = z
  .object({
    name: text().meta({ minLength: 1, pattern: '\\S' }),
    guests: z.number().meta({ multipleOf: 1, minimum: guestBounds.min, maximum: guestBounds.max }),
  })
  .register(requestSchemas, { id: 'ReservationInput', example: { name: 'Ada', guests: 2 } })

/**
 * The rules of a reservation. A violation results in INVALID_RESERVATION, with messages in the caller's language. The
 * messages in this schema are keys of the texts in src/messages/.
 */
export const ReservationRules = z.object({
  name: z
    .string()
    .trim()
    .refine((value) => !isBlank(value), 'nameBlank'),
  guests: z
    .number()
    .refine(Number.isInteger, 'guestsNotWhole')
    .min(guestBounds.min, 'guestsTooFew')
    .max(guestBounds.max, 'guestsTooMany'),
})
const ReservationResult = z.object({ message: z.string() }).register(responseSchemas, {
  id: 'ReservationResult',
  example: { message: 'Thank you, Ada. 2 seats are reserved.' },
})

/** `updates` is empty, because a reservation stores nothing and therefore changes no topic. */
export const reservations = {
  create: publicAccess
    .meta({
      rateLimit: { name: 'reservations', points: 1200, duration: 60 },
      updates: [],
      tool: {
        title: 'Check a reservation',
        description:
          'Checks a table reservation and returns a confirmation text. A demo: nothing is stored or booked.',
        effect: 'read',
      },
    })
    .errors({
      INVALID_RESERVATION: {
        status: 400,
        message: 'The reservation breaks a rule',
        data: z
          .object({ name: z.string().optional(), guests: z.string().optional() })
          .meta({ examples: [{ guests: 'Please reserve at most 20 seats.' }] }),
      },
    })
    .route({ method: 'POST', path: '/api/reservations', summary: 'Check a reservation; nothing is stored' })
    .input(ReservationInput)
    .output(ReservationResult),
}
