import { resource, toUnixSeconds } from 'tallystick'

import { type Book, books as contract } from './contract.ts'
import { bookRows } from './db.ts'

export const books = resource(contract, bookRows, {
  description: 'The books of the library.',
  names: { en: 'books', de: 'Bücher' },
  view: ({ id, title, copies, lent, createdAt }): Book => ({
    id,
    title,
    copies,
    lent,
    createdAt: toUnixSeconds(createdAt),
  }),
  procedures: (os, { page, get, insert, update }, publicOs) => ({
    list: publicOs.list.handler(page('books')),
    get: publicOs.get.handler(get()),
    create: os.create.handler(
      insert(async ({ context: { db, user }, input, errors }) => {
        if (await bookRows.find(db, user, input.id)) throw errors.ID_TAKEN()
        return input
      }),
    ),
    update: os.update.handler(update(({ input }) => input)),
  }),
})
