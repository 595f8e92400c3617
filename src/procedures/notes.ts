import * as query from '../../db/notes.ts'
import type { Reply } from '../context.ts'
import { noteTag } from '../guard/conditions.ts'
import { may, relationTo, signedIn } from '../guard/index.ts'
import { newestFirst, type Order, readPage } from './pages.ts'

const os = signedIn.notes

export const notes = os.router({
  list: os.list.handler(async (call) => {
    const { db, user } = call.context
    const { rows } = await readPage(call, order, (span) => query.list(db, user, span))
    return {
      notes: rows.map((seen) => view(seen, user.id)),
      can: { CREATE_NOTE: may('anyone', 'CREATE_NOTE') },
    }
  }),

  create: os.create.handler(async ({ context: { db, user, reply }, input }) => {
    const note = await query.insert(db, user.id, input)
    return tagged(reply, { note, role: null, sharedWith: 0 }, user.id)
  }),

  update: os.update.handler(async ({ context: { db, user, reply }, input: { id, title, body }, errors }) => {
    const seen = await query.update(db, user, id, { title, body })
    if (!seen) throw errors.NOT_FOUND()
    return tagged(reply, seen, user.id)
  }),

  share: os.share.handler(async ({ context: { db, user, reply }, input: { id, email, role }, errors }) => {
    const address = email.toLowerCase()
    const seen =
      address === user.email ? await query.find(db, user, id) : await query.share(db, user, id, address, role)
    if (!seen) throw errors.NOT_FOUND()
    return tagged(reply, seen, user.id)
  }),

  delete: os.delete.handler(async ({ context: { db, user }, input, errors }) => {
    const removed = await query.remove(db, user, input.id)
    if (!removed) throw errors.NOT_FOUND()
    return removed
  }),
})

function tagged(reply: Reply, seen: query.Seen, viewerId: string) {
  reply.set('etag', noteTag(seen.note, viewerId))
  return view(seen, viewerId)
}

const order: Order<query.Listed> = { ...newestFirst, placeOf: ({ note }) => newestFirst.placeOf(note) }

/** A note as one viewer may see it: what they may do, and, for the author alone, how many it is shared with. */
function view(seen: query.Listed, viewerId: string) {
  const { note, sharedWith } = seen
  const relation = relationTo(seen, viewerId)
  const mine = relation === 'author'
  return {
    id: note.uuid,
    title: note.title,
    body: note.body,
    mine,
    sharedWith: mine ? sharedWith : 0,
    updatedAt: note.updatedAt.toISOString(),
    can: {
      VIEW_NOTE: may(relation, 'VIEW_NOTE'),
      EDIT_NOTE: may(relation, 'EDIT_NOTE'),
      SHARE_NOTE: may(relation, 'SHARE_NOTE'),
      DELETE_NOTE: may(relation, 'DELETE_NOTE'),
    },
  }
}
