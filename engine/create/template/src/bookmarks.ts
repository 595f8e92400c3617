import { implement } from '@orpc/server'
import {
  type Context,
  newestFirst,
  type Order,
  readPage,
  type Resource,
  toUnixSeconds,
  withCaller,
} from 'tallystick'
import { selectWith } from 'tallystick/db'

import { bookmarks as bookmarksContract } from '../contract/bookmarks.ts'
import * as query from '../db/bookmarks.ts'

const os = implement(bookmarksContract).$context<Context>().use(withCaller)

const order: Order<query.BookmarkRow> = { ...newestFirst, textsOf: ({ url, title }) => [url, title] }

const procedures = os.router({
  list: os.list.handler(async (call) => {
    const { db, user } = call.context
    const { rows } = await readPage(call, order, (page) => query.list(db, user.id, page))
    return { bookmarks: rows.map(view) }
  }),

  create: os.create.handler(async ({ context: { db, user }, input }) =>
    view(await query.insert(db, user.id, input)),
  ),

  delete: os.delete.handler(async ({ context: { db, user }, input, errors }) => {
    if (!(await query.remove(db, user.id, input.id))) throw errors.NOT_FOUND()
    return { success: true }
  }),
})

export const bookmarks = {
  description: 'Addresses that a person keeps.',
  procedures,
  personalData: {
    select: selectWith(query.exportQueries, ({ bookmarks }) => ({ bookmarks: bookmarks.map(view) })),
  },
} satisfies Resource

const view = ({ id, url, title, createdAt }: query.BookmarkRow) => ({
  id,
  url,
  title,
  createdAt: toUnixSeconds(createdAt),
})
