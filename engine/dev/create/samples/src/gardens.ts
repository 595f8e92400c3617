import { resource, toUnixSeconds } from 'tallystick'

import { type Garden, gardens as gardensContract } from '../contract/gardens.ts'
import { gardenRows } from '../db/gardens.ts'

export const gardens = resource(gardensContract, gardenRows, {
  description: 'The gardens of a person, and those that other people share by address.',
  permissions: {
    owner: ['EDIT_GARDEN', 'SHARE_GARDEN', 'DELETE_GARDEN'],
    editor: ['EDIT_GARDEN'],
    viewer: [],
  },
  view: ({ id, title, userId, createdAt }, { can, person }): Garden => ({
    id,
    title,
    mine: userId === person.id,
    can,
    createdAt: toUnixSeconds(createdAt),
  }),
  importSamples: () => import('./samples/gardens.ts'),
  procedures: (os, { page, get, insert, update, remove, members, invite, exclude, leave }) => ({
    list: os.list.handler(page('gardens')),
    get: os.get.handler(get()),
    create: os.create.handler(insert(({ input }) => input)),
    update: os.update.handler(update(({ input }) => input)),
    delete: os.delete.handler(remove()),
    members: os.members.handler(members('members', ({ email, role }) => ({ email, role }))),
    invite: os.invite.handler(invite(({ input }) => input)),
    exclude: os.exclude.handler(exclude(({ input }) => input.email)),
    leave: os.leave.handler(leave()),
  }),
})
