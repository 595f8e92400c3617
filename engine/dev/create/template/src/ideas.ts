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

import { ideas as ideasContract } from '../contract/ideas.ts'
import * as query from '../db/ideas.ts'

const os = implement(ideasContract.procedures).$context<Context>().use(withCaller)

const order: Order<query.IdeaRow> = { ...newestFirst, textsOf: ({ title }) => [title] }

const procedures = os.router({
  list: os.list.handler(async (call) => {
    const { db, user } = call.context
    const { rows } = await readPage(call, order, (page) => query.list(db, user.id, page))
    return { ideas: rows.map(view) }
  }),

  create: os.create.handler(async ({ context: { db, user }, input }) =>
    view(await query.insert(db, user.id, input)),
  ),

  delete: os.delete.handler(async ({ context: { db, user }, input, errors }) => {
    if (!(await query.remove(db, user.id, input.id))) throw errors.NOT_FOUND()
    return { success: true }
  }),
})

export const ideas = {
  description: 'The ideas of a person. Other people cannot see these ideas.',
  procedures,
  personalData: {
    select: selectWith(query.exportQueries, ({ ideas }) => ({ ideas: ideas.map(view) })),
  },
} satisfies Resource

const view = ({ id, title, createdAt }: query.IdeaRow) => ({
  id,
  title,
  createdAt: toUnixSeconds(createdAt),
})
