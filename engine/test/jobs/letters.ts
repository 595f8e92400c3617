import { fileURLToPath } from 'node:url'

import { defineApp, mailTemplate, resource } from 'tallystick'
import * as z from 'zod'

import { contract, parcels as parcelContract } from './parcels/contract.ts'
import { parcelRows } from './parcels/db.ts'

/** Each value can be a mistake, or an attack. */
export const arrived = mailTemplate(
  z.object({ label: z.string(), at: z.date(), path: z.string().default('/parcels') }),
  ({ label, at, path }, language) => ({
    subject: `${language}: ${label}`,
    paragraphs: [`The parcel ${label} has arrived.`, at.toISOString()],
    link: { label: 'Show', path },
    advice: 'Ignore this e-mail if you expect no parcel.',
  }),
)
export const empty = mailTemplate(z.object({}), () => ({ subject: 'Nothing', paragraphs: [] }))
export const undeclared = mailTemplate(z.object({}), () => ({ subject: 'Undeclared', paragraphs: ['Text'] }))

const parcels = resource(parcelContract, parcelRows, {
  description: 'Parcels, whose arrival an e-mail tells.',
  view: ({ id, label }) => ({ id, label }),
  procedures: (os, { page, update }) => ({
    list: os.list.handler(page('parcels')),
    create: os.create.handler(({ context, input: { label, isRefused }, errors }) =>
      context.transaction(async ({ db, mail }) => {
        const parcel = await parcelRows.insert(db, context.user, { label })
        if (!parcel) throw new Error('The insert returned no row')
        await mail.send({
          to: context.user.email,
          template: arrived,
          values: { label, at: new Date('2030-01-02T03:04:05Z') },
        })
        if (isRefused) throw errors.REFUSED()
        return { id: parcel.id, label }
      }),
    ),
    update: os.update.handler(update(({ input: { label } }) => ({ label }))),
  }),
})

/** An application that sends e-mails, and has no other jobs. */
export const app = defineApp({
  name: 'Test letters',
  version: '1.0.0',
  description: 'Parcels and their e-mails.',
  contract,
  migrationsFolder: fileURLToPath(new URL('./parcels/migrations', import.meta.url)),
  resources: { parcels },
  mails: { arrived, empty },
})
