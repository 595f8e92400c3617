import { resource, toUnixSeconds } from 'tallystick'

import { type Plant, plants as plantsContract } from '../contract/plants.ts'
import { plantRows } from '../db/plants.ts'

export const plants = resource(plantsContract, plantRows, {
  description: 'The plants of gardens.',
  // What each relation to the garden permits.
  permissions: {
    owner: ['LIST_PLANTS', 'CREATE_PLANT', 'EDIT_PLANT'],
    // #shared
    editor: ['LIST_PLANTS', 'CREATE_PLANT', 'EDIT_PLANT'],
    viewer: ['LIST_PLANTS'],
    // #end
  },
  view: ({ id, gardenId, title, createdAt }, { can: { EDIT_PLANT } }): Plant => ({
    id,
    gardenId,
    title,
    can: { EDIT_PLANT },
    createdAt: toUnixSeconds(createdAt),
  }),
  importSamples: () => import('./samples/plants.ts'),
  procedures: (os, { page, get, insert, update, remove }) => ({
    list: os.list.handler(page('plants')),
    get: os.get.handler(get()),
    create: os.create.handler(insert(({ input }) => input)),
    update: os.update.handler(update(({ input }) => input)),
    delete: os.delete.handler(remove()),
  }),
})
