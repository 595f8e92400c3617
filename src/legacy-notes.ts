import { call } from '@orpc/server'
import { isBlank, trimInvisibleStart } from 'tallystick-contract'
import { type Context, type Patch, resource, type Resource, toUnixSeconds } from 'tallystick'

import { noteBounds } from '../contract/bounds.ts'
import { legacyNotes as procedures, type NotesList } from '../contract/legacy-notes.ts'
import { notesTopic } from '../contract/notes.ts'
import { legacyNoteRows } from '../db/notes.ts'
import { notesHtml } from './html/notes.ts'
import { notes } from './notes.ts'

const legacy = resource({ procedures, topics: [], exports: undefined }, legacyNoteRows, {
  description: 'Notes in their first form, with integer ids.',
  names: notes.names,
  /** A note in the first form has only a text, which contains a separate title and body of the second form. */
  view: ({ id, userId, title, body, createdAt, updatedAt }) => ({
    id,
    userId,
    text: startsWithTitle(body, title) ? body : `${title}\n\n${body}`,
    createdAt: toUnixSeconds(createdAt),
    updatedAt: toUnixSeconds(updatedAt),
  }),
  procedures: (os, { page, insert, remove }) => ({
    list: os.list.handler(page('notes', 'noteCount')),
    create: os.create.handler(
      insert(({ input: { newNote } }) => ({ title: deriveTitle(newNote), body: newNote })),
    ),
    delete: os.delete.handler(remove({ isRequired: false })),
    reset: os.reset.handler(async ({ context: { db, user } }) => {
      await legacyNoteRows.clear(db, user)
      return { noteCount: 0 }
    }),
  }),
})

const list = (context: Context) =>
  call(legacy.procedures.list, undefined, { context, path: ['legacyNotes', 'list'] })

const patch = ({ notes: listed, noteCount }: NotesList, signals = {}): Patch => ({
  selector: '#notes-list',
  html: notesHtml(listed),
  signals: { noteCount, ...signals },
})

export const legacyNotes = {
  ...legacy,
  isRequestedBy: (body) => 'newNote' in body && !('title' in body),
  datastar: {
    patches: {
      list: (output: NotesList) => patch(output),
      create: async (_, context) => patch(await list(context), { newNote: '' }),
      delete: async (_, context) => patch(await list(context)),
    },
    live: { topic: notesTopic, read: legacy.procedures.list, patch },
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

/** Returns whether only invisible characters precede the title in the body. */
const startsWithTitle = (body: string, title: string) => {
  const start = body.indexOf(title)
  return start >= 0 && isBlank(body.slice(0, start))
}
