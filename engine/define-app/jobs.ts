import type { Jobs } from '../app/job.ts'
import { hasMails, type MailTemplates } from '../app/mail-template.ts'
import type { PersonalData } from '../db/accounts/personal-data.ts'
import { removeOf } from '../db/jobs/queries.ts'

/** The deletion of an account removes the jobs that name the account, and the e-mails to its address, in every state. */
export const personalDataOfJobs = (jobs: Jobs, mails: MailTemplates): PersonalData[] =>
  hasMails(mails) || Object.values(jobs).some(({ person }) => person)
    ? [
        {
          select: () => ({ queries: [], read: () => Promise.resolve({}) }),
          remove: (tx, person) => removeOf(tx, person),
        },
      ]
    : []
