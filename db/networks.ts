import { and, eq, isNotNull, isNull } from 'drizzle-orm'

import { users } from './users.ts'
import type { Database } from './database.ts'
import { sessions } from './sessions.ts'

/**
 * Returns the IP addresses of a person's sessions. Omits impersonations, because their IP address is the
 * administrator's.
 */
export const listIpAddresses = async (db: Database, email: string) =>
  (
    await db
      .selectDistinct({ address: sessions.ipAddress })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(and(eq(users.email, email), isNull(sessions.impersonatedBy), isNotNull(sessions.ipAddress)))
  ).flatMap(({ address }) => address ?? [])
