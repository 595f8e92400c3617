import { type PersonalData, selectWith } from '../../db/accounts/personal-data.ts'
import { listConnections } from '../../db/accounts/users.ts'
import { toUnixSeconds } from '../../values/unix-time.ts'

/** The export of an account lists its connections with sign-in providers. A foreign key removes them. */
export const personalDataOfProviders: PersonalData = {
  select: selectWith(
    (db, { id }) => ({ rows: listConnections(db, id) }),
    ({ rows }) => ({
      connections: rows.map(({ provider, createdAt }) => ({ provider, createdAt: toUnixSeconds(createdAt) })),
    }),
  ),
}
