import { z } from 'zod'

import {
  responseSchemas,
  ById,
  creating,
  noteBounds,
  Page,
  requestSchemas,
  reading,
  Success,
  text,
  Timestamp,
  writing,
} from './base.ts'

export const Note = z
  .object({
    id: z.int(),
    userId: z.string(),
    text: z.string(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .register(responseSchemas, { id: 'Note' })
export const NotesList = z
  .object({ notes: z.array(Note), noteCount: z.int() })
  .register(responseSchemas, { id: 'NotesList' })
/** The text must not be blank, because the first line with a visible character becomes the title of the note. */
const Text = text({ max: noteBounds.body })
  .refine((value) => /\S/.test(value), 'Must not be blank')
  .meta({ minLength: 1, pattern: '\\S' })
export const AddNote = z.object({ newNote: Text }).register(requestSchemas, { id: 'AddNote' })
export const NotesReset = z.object({ noteCount: z.int() }).register(responseSchemas, { id: 'NotesReset' })

/**
 * The media type of the first form of notes (src/http/note-forms.ts). In `Accept` or `Content-Type`, it selects the
 * first form on paths that exist in both forms.
 */
export const firstFormMediaType = 'application/json;version=1'

/** Notes in the first form: integer ids, and no sharing. The procedures access only notes that the caller wrote. */
export const legacyNotes = {
  list: reading
    .meta({ form: 1 })
    .route({ method: 'GET', path: '/api/notes', summary: 'List your notes, newest first' })
    .input(Page.optional())
    .output(NotesList),
  create: creating
    .meta({ form: 1 })
    .route({ method: 'POST', path: '/api/notes', summary: 'Add a note' })
    .input(AddNote)
    .output(Note),
  delete: writing
    .route({ method: 'DELETE', path: '/api/notes/{id}', summary: 'Delete one of your notes' })
    .input(ById)
    .output(Success),
  reset: writing
    .route({ method: 'POST', path: '/api/notes/reset', summary: 'Delete all of your notes' })
    .output(NotesReset),
}
