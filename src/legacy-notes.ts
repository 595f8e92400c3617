import { call, implement } from '@orpc/server'
import { isBlank, trimInvisibleStart } from 'tallystick-contract'
import {
  type Context,
  newestFirst,
  type Order,
  type Patch,
  readPage,
  type Resource,
  toUnixSeconds,
  withCaller,
} from 'tallystick'

import { legacyNotes as legacyNotesContract, type NotesList } from '../contract/legacy-notes.ts'
import { noteBounds } from '../contract/bounds.ts'
import { notesTopic } from '../contract/notes.ts'
import * as query from '../db/legacy-notes.ts'
import { insert, type ListedNote } from '../db/notes.ts'
import { notesHtml } from './html/notes.ts'
import { notes } from './notes.ts'

const os = implement(legacyNotesContract).$context<Context>().use(withCaller)

const order: Order<ListedNote['note']> = { ...newestFirst, textsOf: ({ title, body }) => [title, body] }

const procedures = os.router({
  list: os.list.handler(async (call) => {
    const { db, user } = call.context
    const { rows, total } = await readPage(
      call,
      order,
      (page) => query.list(db, user.id, page),
      () => query.countAll(db, user.id),
    )
    return { notes: rows.map(view), noteCount: total }
  }),

  create: os.create.handler(async ({ context: { db, user }, input: { newNote } }) =>
    view(await insert(db, user.id, { title: deriveTitle(newNote), body: newNote })),
  ),

  delete: os.delete.handler(async ({ context: { db, user }, input }) => {
    await query.remove(db, user.id, input.id)
    return { success: true }
  }),

  reset: os.reset.handler(async ({ context: { db, user } }) => {
    await query.clear(db, user.id)
    return { noteCount: 0 }
  }),
})

const list = (context: Context) =>
  call(procedures.list, undefined, { context, path: ['legacyNotes', 'list'] })

const patch = ({ notes, noteCount }: NotesList, signals = {}): Patch => ({
  selector: '#notes-list',
  html: notesHtml(notes),
  signals: { noteCount, ...signals },
})

export const legacyNotes = {
  description: 'Notes in their first form, with integer ids.',
  names: notes.names,
  procedures,
  isRequestedBy: (body) => 'newNote' in body && !('title' in body),
  datastar: {
    patches: {
      list: (output: NotesList) => patch(output),
      create: async (_, context) => patch(await list(context), { newNote: '' }),
      delete: async (_, context) => patch(await list(context)),
    },
    live: { topic: notesTopic, read: procedures.list, patch },
  },
} satisfies Resource

/**
 * Returns the first line that is not blank, from its first visible character, truncated to the maximum length of a
 * title, in code points.
 */
function deriveTitle(text: string) {
  const [line = ''] = trimInvisibleStart(text).split(/\r\n|\r|\n/)
  return Array.from(line).slice(0, noteBounds.title).join('').trim()
}

/**
 * Returns a note in the first form, which has only a text. For a note with a separate title and body (second form), the
 * text contains both.
 */
const view = ({ id, userId, title, body, createdAt, updatedAt }: ListedNote['note']) => ({
  id,
  userId,
  text: startsWithTitle(body, title) ? body : `${title}\n\n${body}`,
  createdAt: toUnixSeconds(createdAt),
  updatedAt: toUnixSeconds(updatedAt),
})

/** Returns whether only invisible characters precede the title in the body. */
const startsWithTitle = (body: string, title: string) => {
  const start = body.indexOf(title)
  return start >= 0 && isBlank(body.slice(0, start))
}
