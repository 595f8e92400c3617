import { notesTopic } from '../../contract/notes.ts'
import * as query from '../../db/notes.ts'
import * as shares from '../../db/shares.ts'
import type { Reply } from '../caller.ts'
import { noteTag } from '../guard/conditions.ts'
import { withCaller } from '../guard/index.ts'
import { isPermitted, relationTo } from '../guard/permissions.ts'
import { newestFirst, type Order, readPage } from '../lists/pagination.ts'
import type { Resource } from '../resource.ts'

const os = withCaller.notes

const procedures = os.router({
  list: os.list.handler(async (call) => {
    const { db, user, reply } = call.context
    const { rows } = await readPage(call, order, (page) => query.list(db, user, page))
    // Anyone can share a note with the person. If the list were compressed, the author of that note could guess texts
    // of the person's own notes, by their effect on the size of the answer.
    if (rows.some(({ note }) => note.userId !== user.id)) reply.set('cache-control', 'no-transform')
    return {
      notes: rows.map((item) => view(item, user.id)),
      can: { CREATE_NOTE: isPermitted('anyone', 'CREATE_NOTE') },
    }
  }),

  create: os.create.handler(async ({ context: { db, user, reply }, input }) => {
    const note = await query.insert(db, user.id, input)
    return viewWithETag(reply, { note, role: null, sharedWith: 0 }, user.id)
  }),

  update: os.update.handler(async ({ context: { db, user, reply }, input: { id, title, body }, errors }) => {
    const item = await query.update(db, user, id, { title, body })
    if (!item) throw errors.NOT_FOUND()
    return viewWithETag(reply, item, user.id)
  }),

  share: os.share.handler(async ({ context: { db, user, reply }, input: { id, email, role }, errors }) => {
    const address = email.toLowerCase()
    // If the caller enters their own address, the note is not shared.
    const item =
      address === user.email ? await query.find(db, user, id) : await shares.put(db, user, id, address, role)
    if (!item) throw errors.NOT_FOUND()
    return viewWithETag(reply, item, user.id)
  }),

  shares: os.shares.handler(async (call) => {
    const { db, user } = call.context
    const { rows } = await readPage(call, sharesOrder, (page) => shares.list(db, user, call.input.id, page))
    return {
      shares: rows.map(({ email, role, createdAt }) => ({ email, role, createdAt: createdAt.toISOString() })),
    }
  }),

  unshare: os.unshare.handler(async ({ context: { db, user, reply }, input: { id, email }, errors }) => {
    const item = await shares.remove(db, user, id, email.toLowerCase())
    if (!item) throw errors.NOT_FOUND()
    return viewWithETag(reply, item, user.id)
  }),

  delete: os.delete.handler(async ({ context: { db, user }, input, errors }) => {
    const removed = await query.remove(db, user, input.id)
    if (!removed) throw errors.NOT_FOUND()
    return removed
  }),
})

export const notes = {
  procedures,
  watch: { topic: notesTopic, listOtherOwners: (db, { email }) => shares.listAuthors(db, email) },
} satisfies Resource

function viewWithETag(reply: Reply, item: query.NoteForViewer, viewerId: string) {
  reply.set('etag', noteTag(item.note, viewerId))
  return view(item, viewerId)
}

const order: Order<query.ListedNote> = {
  ...newestFirst,
  positionOf: ({ note }) => newestFirst.positionOf(note),
  textsOf: ({ note: { title, body } }) => [title, body],
}

const sharesOrder: Order<shares.ListedShare> = {
  positionOf: ({ createdAt, email }) => ({ at: createdAt, id: email }),
  cursorPattern: /^(\d{1,13})\.([!-~]{1,254})$/,
  textsOf: ({ email }) => [email],
}

/** Returns a note with the viewer's permissions. The number of shares is 0 for viewers other than the author. */
function view(item: query.ListedNote, viewerId: string) {
  const { note, sharedWith } = item
  const relation = relationTo(item, viewerId)
  const mine = relation === 'author'
  return {
    id: note.uuid,
    title: note.title,
    body: note.body,
    mine,
    sharedWith: mine ? sharedWith : 0,
    updatedAt: note.updatedAt.toISOString(),
    can: {
      VIEW_NOTE: isPermitted(relation, 'VIEW_NOTE'),
      EDIT_NOTE: isPermitted(relation, 'EDIT_NOTE'),
      SHARE_NOTE: isPermitted(relation, 'SHARE_NOTE'),
      DELETE_NOTE: isPermitted(relation, 'DELETE_NOTE'),
    },
  }
}
