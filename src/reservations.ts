import { implement } from '@orpc/server'
import { type Context, type Resource, withoutCaller } from 'tallystick'

import { guestBounds } from '../contract/bounds.ts'
import { ReservationRules, reservations as reservationsContract } from '../contract/reservations.ts'
import { negotiateLanguage } from './texts.ts'

const os = implement(reservationsContract).$context<Context>().use(withoutCaller)

const procedures = os.router({
  create: os.create.handler(({ context: { headers, reply }, input, errors }) => {
    const { language, translate } = negotiateLanguage(headers['accept-language'])
    reply.set('content-language', language)
    reply.set('vary', 'Accept-Language')
    const { data, error } = ReservationRules.safeParse(input)
    if (data) return { message: translate('reserved', data) }
    const violations = error.issues.map(
      ({ path: [field], message }) => [String(field), translate(message, guestBounds)] as const,
    )
    // Object.fromEntries keeps the last entry of a key. The reversed order keeps the first violation of a field.
    throw errors.INVALID_RESERVATION({
      message: translate('refused'),
      data: Object.fromEntries(violations.reverse()),
    })
  }),
})

export const reservations = {
  description: 'A demonstration of answers in the language of the caller.',
  procedures,
} satisfies Resource
