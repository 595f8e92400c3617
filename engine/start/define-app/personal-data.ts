import type { Jobs } from '../../app/job.ts'
import { hasMails, type MailTemplates } from '../../app/mail-template.ts'
import { type PersonalData, selectWith } from '../../db/accounts/personal-data.ts'
import { listConnections } from '../../db/accounts/users.ts'
import { listOf, removeOf } from '../../db/jobs/queries.ts'
import { toUnixSeconds } from '../../values/unix-time.ts'

/**
 * The export of an account lists the jobs that name the account, and the deletion removes these jobs and the e-mails to its address, in
 * every state.
 */
export const personalDataOfJobs = (jobs: Jobs, mails: MailTemplates): PersonalData[] =>
  hasMails(mails) || Object.values(jobs).some(({ person }) => person)
    ? [
        {
          select: selectWith(
            (db, { id }) => ({ rows: listOf(db, id) }),
            ({ rows }) => ({
              jobs: rows.map(({ createdAt, startsAt, ...row }) => ({
                ...row,
                createdAt: toUnixSeconds(createdAt),
                startsAt: toUnixSeconds(startsAt),
              })),
            }),
          ),
          remove: (tx, person) => removeOf(tx, person),
        },
      ]
    : []

/** The export of an account lists its connections with sign-in providers. A foreign key removes them. */
export const personalDataOfProviders: PersonalData = {
  select: selectWith(
    (db, { id }) => ({ rows: listConnections(db, id) }),
    ({ rows }) => ({
      connections: rows.map(({ provider, createdAt }) => ({ provider, createdAt: toUnixSeconds(createdAt) })),
    }),
  ),
}
