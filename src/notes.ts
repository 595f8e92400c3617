import { implement } from '@orpc/server'
import { selectWith } from 'tallystick/db'
import {
  consumeLimit,
  type Context,
  isPermitted,
  type Items,
  newestFirst,
  type Order,
  readPage,
  type Reply,
  type Resource,
  toUnixTimes,
  withCaller,
} from 'tallystick'

import { addressLimit, type NoteAction, notes as notesContract, notesTopic } from '../contract/notes.ts'
import * as query from '../db/notes.ts'
import * as shares from '../db/shares.ts'

const os = implement(notesContract.procedures).$context<Context>().use(withCaller)

type Relation = 'author' | query.Role | 'anyone'

const permissions: Record<Relation, readonly NoteAction[]> = {
  author: ['VIEW_NOTE', 'EDIT_NOTE', 'SHARE_NOTE', 'DELETE_NOTE'],
  editor: ['VIEW_NOTE', 'EDIT_NOTE', 'LEAVE_NOTE'],
  reader: ['VIEW_NOTE', 'LEAVE_NOTE'],
  anyone: ['CREATE_NOTE'],
}

const relationTo = ({ note, role }: query.ListedNote, userId: string): Relation =>
  note.userId === userId ? 'author' : (role ?? 'anyone')

/**
 * The strong entity tag of a note. `sharing` changes when the author shares the note or changes a role. Only the
 * author's tag contains `sharing`, because other readers must not notice these changes.
 */
const noteTag = ({ userId, version, sharing }: query.NoteRow, viewerId: string) =>
  userId === viewerId ? `"${version}.${sharing}"` : `"${version}"`

const procedures = os.router({
  list: os.list.handler(async (call) => {
    const { db, user, reply } = call.context
    const { rows } = await readPage(call, order, (page) => query.list(db, user, page))
    // Anyone can share a note with the person. If the list were compressed, the author of that note could guess texts
    // of the person's own notes, by their effect on the size of the answer.
    if (rows.some(({ note }) => note.userId !== user.id)) reply.set('cache-control', 'no-transform')
    return {
      notes: rows.map((item) => view(item, user.id)),
      can: { CREATE_NOTE: isPermitted(permissions, 'anyone', 'CREATE_NOTE') },
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

  share: os.share.handler(async ({ context, input: { id, email, role }, errors }) => {
    const { db, user, reply, announce } = context
    const address = email.toLowerCase()
    await consumeLimit(context, addressLimit, `${user.id} ${address}`)
    // If the caller enters their own address, the note is not shared.
    const item =
      address === user.email ? await query.find(db, user, id) : await shares.put(db, user, id, address, role)
    if (!item) throw errors.NOT_FOUND()
    announce(notesTopic, { address })
    return viewWithETag(reply, item, user.id)
  }),

  shares: os.shares.handler(async (call) => {
    const { db, user } = call.context
    const { rows } = await readPage(call, sharesOrder, (page) => shares.list(db, user, call.input.id, page))
    return {
      shares: rows.map(({ email, role, createdAt }) => ({ email, role, createdAt: createdAt.toISOString() })),
    }
  }),

  unshare: os.unshare.handler(async ({ context, input: { id, email }, errors }) => {
    const { db, user, reply, announce } = context
    const item = await shares.remove(db, user, id, email.toLowerCase())
    if (!item) throw errors.NOT_FOUND()
    announce(notesTopic, { address: email })
    return viewWithETag(reply, item, user.id)
  }),

  leave: os.leave.handler(async ({ context: { db, user, announce }, input: { id }, errors }) => {
    const item = await shares.leave(db, user, id)
    if (!item) throw errors.NOT_FOUND()
    announce(notesTopic, { address: user.email })
    return { id: item.note.uuid }
  }),

  delete: os.delete.handler(async ({ context: { db, user }, input, errors }) => {
    const removed = await query.remove(db, user, input.id)
    if (!removed) throw errors.NOT_FOUND()
    return removed
  }),
})

const items: Items<string> = {
  permissions,
  findRelation: async (db, user, id) => {
    const found = await query.find(db, user, id)
    return found && { name: relationTo(found, user.id), owner: found.note.userId }
  },
  ifMatch: {
    by: 'lock',
    lockTag: async (tx, user, id) => {
      const note = await query.findForUpdate(tx, user, id)
      return note && noteTag(note, user.id)
    },
  },
}

export const notes = {
  description: 'Notes, which their authors can share with readers and editors.',
  names: {
    am: 'ማስታወሻዎች',
    ar: 'الملاحظات',
    de: 'Notizen',
    en: 'notes',
    es: 'notas',
    fa: 'یادداشت‌ها',
    fr: 'notes',
    he: 'פתקים',
    hi: 'नोट',
    it: 'note',
    ja: 'メモ',
    ko: '메모',
    pl: 'notatki',
    'pt-BR': 'notas',
    ru: 'заметки',
    th: 'บันทึก',
    tr: 'notlar',
    uk: 'нотатки',
    'zh-Hans': '笔记',
    'zh-Hant': '筆記',
  },
  procedures,
  items,
  personalData: {
    select: selectWith(shares.exportQueries, ({ notes, shares, sharedByOthers, numberSharedByOthers }) => ({
      notes: exportView(notes, shares),
      notesOfOthers: sharedByOthers,
      notesOfOthersCount: numberSharedByOthers[0]?.count ?? 0,
    })),
    keepsAddressIn: { note_shares: 'A share belongs to the note of another person.' },
  },
  watch: { topic: notesTopic, listOtherOwners: (db, { email }) => shares.listAuthors(db, email) },
  importSamples: () => import('./samples/notes.ts'),
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
      VIEW_NOTE: isPermitted(permissions, relation, 'VIEW_NOTE'),
      EDIT_NOTE: isPermitted(permissions, relation, 'EDIT_NOTE'),
      SHARE_NOTE: isPermitted(permissions, relation, 'SHARE_NOTE'),
      DELETE_NOTE: isPermitted(permissions, relation, 'DELETE_NOTE'),
    },
  }
}

/** The export of the notes. `number` is the id in the first form. */
function exportView(notes: query.NoteRow[], shares: query.ShareRow[]) {
  const known = new Map(notes.map(({ id }) => [id, [] as ReturnType<typeof exportedShare>[]]))
  for (const share of shares) known.get(share.noteId)?.push(exportedShare(share))
  return notes.map(({ id: number, uuid: id, title, body, ...row }) => ({
    id,
    number,
    title,
    body,
    sharedWith: known.get(number) ?? [],
    ...toUnixTimes(row),
  }))
}

const exportedShare = ({ email, role, ...row }: query.ShareRow) => ({ email, role, ...toUnixTimes(row) })
