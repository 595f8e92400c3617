import { fileURLToPath } from 'node:url'
import { defineApp, resource } from 'tallystick'
import { selectWith } from 'tallystick/db'

import { albums as albumContract, contract, photos as photoContract } from './contract.ts'
import { albumRows, photoRows } from './db.ts'

const removed = ({ uuid }: { uuid: string }) => ({ id: uuid })

const albums = resource(albumContract, albumRows, {
  description: 'Albums, which their authors share by address.',
  permissions: {
    author: ['VIEW_ALBUM', 'EDIT_ALBUM', 'SHARE_ALBUM'],
    editor: ['VIEW_ALBUM', 'EDIT_ALBUM', 'LEAVE_ALBUM'],
    reader: ['VIEW_ALBUM', 'LEAVE_ALBUM'],
  },
  unrelated: 'forbidden',
  tag: ({ version, sharing }, { relations }) =>
    relations.includes('author') ? `"${version}.${sharing}"` : `"${version}"`,
  view: ({ uuid: id, title, guestCount }, { relations }) => ({
    id,
    title,
    mine: relations.includes('author'),
    guestCount,
  }),
  procedures: (os, { page, insert, update, remove, members, invite, exclude, leave }) => ({
    list: os.list.handler(page('albums')),
    create: os.create.handler(insert(({ input }) => input)),
    update: os.update.handler(update(({ input: { title } }) => ({ title }))),
    delete: os.delete.handler(remove({ answer: removed })),
    clear: os.clear.handler(async ({ context: { db, user } }) => {
      await albumRows.clear(db, user)
      return { albums: [] }
    }),
    guests: os.guests.handler(members('guests', ({ email, role }) => ({ email, role }))),
    invite: os.invite.handler(invite(({ input }) => input)),
    exclude: os.exclude.handler(exclude(({ input }) => input.email)),
    leave: os.leave.handler(leave({ answer: removed })),
  }),
  selectExport: selectWith(
    (db, person) => ({ own: albumRows.all(db, person) }),
    ({ own }) => ({ albums: own.map(({ title }) => title), albumCount: own.length }),
  ),
})

const photos = resource(photoContract, photoRows, {
  description: 'The photos of albums.',
  permissions: { author: ['EDIT_PHOTO'], editor: ['EDIT_PHOTO'] },
  view: ({ id, albumId, title }) => ({ id, albumId, title }),
  procedures: (os, { page, insert, get, update }) => ({
    list: os.list.handler(page('photos', 'total')),
    create: os.create.handler(insert(({ input }) => input)),
    get: os.get.handler(get()),
    move: os.move.handler(update(({ input: { albumId } }) => ({ albumId }))),
  }),
})

/** An application for the tests of rows that another column than the primary key identifies. */
export const app = defineApp({
  name: 'Test albums',
  version: '1.0.0',
  description: 'Albums and photos.',
  contract,
  migrationsFolder: fileURLToPath(new URL('./migrations', import.meta.url)),
  resources: { albums, photos },
})
