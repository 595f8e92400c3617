import { and, eq, isNotNull, isNull } from 'drizzle-orm'

import { users } from './users.ts'
import type { Database } from '../connection/database.ts'
import { sessions } from './sessions.ts'

/**
 * Lists the IP addresses from which a person has signed in, also those of expired sessions that housekeeping has not
 * removed. Omits impersonations, because their address is the administrator's.
 */
export const listIpAddresses = async (db: Database, email: string) =>
  (
    await db
      .selectDistinct({ address: sessions.ipAddress })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(and(eq(users.email, email), isNull(sessions.impersonatedBy), isNotNull(sessions.ipAddress)))
  ).flatMap(({ address }) => address ?? [])
