import { eq } from 'drizzle-orm'
import { endpoint } from 'tallystick'
import { expect, test } from 'vitest'

import { audit } from '../../db/accounts/audit.ts'
import { rateLimit, startEndpoints } from '../fixtures/endpoints-app.ts'
import { visits } from '../library/db.ts'

const service = await startEndpoints(
  {
    audited: endpoint(
      { method: 'POST', path: '/audited/{id}', body: 'bytes', rateLimit, audit: 'visits.reset' },
      async ({ params, body, context: { db } }) => {
        const count = body.length
        await db.insert(visits).values({ count }).onConflictDoUpdate({ target: visits.id, set: { count } })
        if (params.id === 'thrown') throw new Error('no')
        return Response.json(count)
      },
    ),
  },
  { DATABASE_URL: 'memory:' },
)
const { db } = service.services
const post = async (id: string, body: string) =>
  (await fetch(`${service.origin}/audited/${id}`, { method: 'POST', body })).status

test('on the embedded database, concurrent calls commit with their entries, or not at all', async () => {
  const statuses = await Promise.all([post('one', 'a'), post('one', 'a'), post('thrown', 'abc')])

  expect(statuses).toEqual([200, 200, 500])
  expect(await db.select({ count: visits.count }).from(visits)).toEqual([{ count: 1 }])
  expect(await db.$count(audit, eq(audit.detail, 'one'))).toBe(2)
  expect(await db.$count(audit, eq(audit.detail, 'thrown'))).toBe(0)
})
