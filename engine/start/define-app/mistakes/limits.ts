import { limitsOf, metaOf, type RateLimit } from 'tallystick-contract/internal'

import type { Endpoints } from '../../../app/endpoint.ts'
import { mailLimits, rateLimits } from '../../../app/rate-limits.ts'
import type { Declared } from './procedures.ts'

/** Two rate limits with one name would share their count. */
export function mistakesOfLimits(all: readonly Declared[], endpoints: Endpoints) {
  const limits = new Map<string, RateLimit>(Object.entries({ ...rateLimits, ...mailLimits }))
  const ofProcedures = all.flatMap(({ procedure }) => limitsOf(metaOf(procedure)))
  return [...ofProcedures, ...Object.values(endpoints).map(({ rateLimit }) => rateLimit)].flatMap((limit) => {
    const first = limits.get(limit.name) ?? limit
    limits.set(limit.name, first)
    return first === limit ? [] : [`Two rate limits have the name ${limit.name}`]
  })
}
