import { fileURLToPath } from 'node:url'

import { defineApp, inTransaction, resource } from 'tallystick'

import { contract, parcels as parcelContract } from './contract.ts'
import { parcelRows } from './db.ts'
import * as jobs from './jobs.ts'

export const parcels = resource(parcelContract, parcelRows, {
  description: 'Parcels, which jobs deliver.',
  view: ({ id, label }) => ({ id, label }),
  procedures: (os, { page, update }) => ({
    list: os.list.handler(page('parcels')),
    create: os.create.handler(async ({ context, input: { label, isRefused }, errors }) =>
      context.transaction(async ({ db, enqueue }) => {
        const parcel = await parcelRows.insert(db, context.user, { label })
        if (!parcel) throw new Error('The insert returned no row')
        await enqueue(jobs.deliver, { label, userId: context.user.id })
        if (isRefused) throw errors.REFUSED()
        return { id: parcel.id, label }
      }),
    ),
    update: os.update.handler(
      inTransaction(
        update(async ({ context: { enqueue, user }, input: { label } }) => {
          await enqueue(jobs.deliver, { label, userId: user.id })
          return { label }
        }),
      ),
    ),
  }),
})

/** An application with jobs. */
export const app = defineApp({
  name: 'Test parcels',
  version: '1.0.0',
  description: 'Parcels and their delivery.',
  contract,
  migrationsFolder: fileURLToPath(new URL('./migrations', import.meta.url)),
  resources: { parcels },
  jobs,
})
