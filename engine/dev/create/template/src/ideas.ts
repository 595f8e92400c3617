import { resource, toUnixSeconds } from 'tallystick'

import { type Idea, ideas as ideasContract } from '../contract/ideas.ts'
import { ideaRows } from '../db/ideas.ts'

export const ideas = resource(ideasContract, ideaRows, {
  description: 'The ideas of a person. Other people cannot see these ideas.',
  view: ({ id, title, createdAt }): Idea => ({ id, title, createdAt: toUnixSeconds(createdAt) }),
  importSamples: () => import('./samples/ideas.ts'),
  procedures: (os, { page, get, insert, update, remove }) => ({
    list: os.list.handler(page('ideas')),
    get: os.get.handler(get()),
    create: os.create.handler(insert(({ input }) => input)),
    update: os.update.handler(update(({ input }) => input)),
    delete: os.delete.handler(remove()),
  }),
})
