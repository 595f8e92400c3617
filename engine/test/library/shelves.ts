import { call } from '@orpc/server'
import { htmlEscape } from 'escape-goat'
import { type Context, type Resource, resource } from 'tallystick'

import { type Shelf, shelves as contract, shelvesTopic } from './contract.ts'
import { shelfRows } from './db.ts'

const shared = resource(contract, shelfRows, {
  description: 'The shelves of a person, which other people can read or edit.',
  permissions: { owner: ['RENAME_SHELF', 'SHARE_SHELF'], editor: ['RENAME_SHELF'], reader: [] },
  view: ({ id, name, userId }, { can, person }): Shelf => ({ id, name, isOwn: userId === person.id, can }),
  procedures: (os, { page, insert, update, members, invite, exclude }) => ({
    list: os.list.handler(page('shelves')),
    create: os.create.handler(insert(({ input }) => input)),
    rename: os.rename.handler(update(({ input }) => input)),
    members: os.members.handler(members('members', ({ email, role }) => ({ email, role }))),
    share: os.share.handler(invite(({ input }) => input)),
    unshare: os.unshare.handler(exclude(({ input }) => input.email)),
  }),
})

const list = (context: Context) =>
  call(shared.procedures.list, undefined, { context, path: ['shelves', 'list'] })

const patch = ({ shelves }: { shelves: { name: string }[] }) => ({
  selector: '#shelves',
  html: `<ul>${shelves.map(({ name }) => htmlEscape`<li>${name}</li>`).join('')}</ul>`,
  signals: { shelfCount: shelves.length },
})

export const shelves = {
  ...shared,
  datastar: {
    patches: { list: patch, create: async (_, context) => patch(await list(context)) },
    live: { topic: shelvesTopic, patch },
  },
} satisfies Resource
