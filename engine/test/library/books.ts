import { implement } from '@orpc/server'
import {
  type Context,
  newestFirstByText,
  type Order,
  readPage,
  type Reply,
  type Resource,
  toUnixSeconds,
  versionTag,
  withCaller,
  withoutCaller,
} from 'tallystick'

import { contract } from './contract.ts'
import * as query from './db.ts'

const os = implement(contract.books).$context<Context>()
const forEverybody = os.use(withoutCaller)
const forAdministrators = os.use(withCaller)

const order: Order<query.BookRow> = { ...newestFirstByText, textsOf: ({ title }) => [title] }

const procedures = os.router({
  list: forEverybody.list.handler(async (call) => {
    const { rows } = await readPage(call, order, (page) => query.listBooks(call.context.db, page))
    return { books: rows.map(view) }
  }),

  get: forEverybody.get.handler(async ({ context: { db, reply }, input: { id }, errors }) => {
    const book = await query.findBook(db, id)
    if (!book) throw errors.NO_BOOK()
    return viewWithETag(reply, book)
  }),

  create: forAdministrators.create.handler(async ({ context: { db }, input, errors }) => {
    const book = await query.insertBook(db, input)
    if (!book) throw errors.ID_TAKEN()
    return view(book)
  }),

  update: forAdministrators.update.handler(async ({ context, input: { id, ...changes }, errors }) => {
    const { db, reply, acceptedVersions } = context
    const book = await query.updateBook(db, id, changes, acceptedVersions)
    if (!book) throw acceptedVersions ? errors.PRECONDITION_FAILED() : errors.NO_BOOK()
    return viewWithETag(reply, book)
  }),
})

export const books = {
  description: 'The books of the library.',
  names: { en: 'books', de: 'Bücher' },
  procedures,
  items: {
    ifMatch: {
      by: 'statement',
      findTag: async (db, _, id: string) => {
        const book = await query.findBook(db, id)
        return book && versionTag(book)
      },
    },
  },
} satisfies Resource

const view = ({ id, title, copies, lent, createdAt }: query.BookRow) => ({
  id,
  title,
  copies,
  lent,
  createdAt: toUnixSeconds(createdAt),
})

function viewWithETag(reply: Reply, book: query.BookRow) {
  reply.set('etag', versionTag(book))
  return view(book)
}
