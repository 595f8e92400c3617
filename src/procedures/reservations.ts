import { ReservationRules, seats } from '../../contract/reservations.ts'
import { open } from '../guard/index.ts'
import { negotiateLanguage } from '../messages/index.ts'

const os = open.reservations

export const reservations = os.router({
  create: os.create.handler(({ context: { headers, reply }, input, errors }) => {
    const { language, say } = negotiateLanguage(headers['accept-language'])
    reply.set('content-language', language)
    reply.set('vary', 'Accept-Language')
    const { data, error } = ReservationRules.safeParse(input)
    if (data) return { message: say('reserved', data) }
    const broken = error.issues.map(
      ({ path: [field], message }) => [String(field), say(message, seats)] as const,
    )
    // Reversed, so that the first broken rule of a field is the one that stays.
    throw errors.INVALID_RESERVATION({ message: say('refused'), data: Object.fromEntries(broken.reverse()) })
  }),
})
