import * as z from 'zod'
import {
  type Alternative,
  ById,
  creating,
  isBlank,
  Page,
  reading,
  requestSchemas,
  responseSchemas,
  Success,
  text,
  Timestamp,
  writing,
} from 'tallystick-contract'

import { noteBounds } from './bounds.ts'
import { notesTopic } from './notes.ts'

const example = {
  id: 7,
  userId: 'kYbUyxwCzlFgDnHaVtQe3Rj8PmS0iO5L',
  text: 'Milk and bread',
  createdAt: 1767261600,
  updatedAt: 1767261600,
}

const Note = z
  .object({
    id: z.int(),
    userId: z.string(),
    text: z.string(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .register(responseSchemas, { id: 'Note', example })
export const NotesList = z
  .object({ notes: z.array(Note), noteCount: z.int() })
  .register(responseSchemas, { id: 'NotesList', example: { notes: [example], noteCount: 1 } })
export type NotesList = z.infer<typeof NotesList>
/**
 * The text must not be blank, because the first line with a visible character becomes the title of the note. The
 * published pattern contains no `\p`, which generated clients do not support.
 */
const Text = text({ max: noteBounds.body })
  .refine((value) => !isBlank(value), 'Must not be blank')
  .meta({ minLength: 1, pattern: '\\S' })
export const AddNote = z
  .object({ newNote: Text })
  .register(requestSchemas, { id: 'AddNote', example: { newNote: 'Milk and bread' } })
const NotesReset = z
  .object({ noteCount: z.int() })
  .register(responseSchemas, { id: 'NotesReset', example: { noteCount: 0 } })

const eventsOf = (html: string, signals: object) => `event: datastar-patch-elements
data: selector #notes-list
data: mode inner
data: elements ${html}

event: datastar-patch-signals
data: signals ${JSON.stringify(signals)}

`
const listed = `<li id="note-7">Milk and bread <button type="button" aria-label="Delete note 7" data-on:click="@delete('/api/notes/7', {payload: {}})">Delete</button></li>`

/** The paths of `list` and `create` exist in both forms of notes. */
export const firstForm: Alternative = {
  name: 'The first form',
  mediaType: 'application/json;version=1',
  bodies: 'a body with `newNote` and without `title`',
}

/** Notes in the first form: integer ids, and no sharing. The procedures access only notes that the caller wrote. */
export const legacyNotes = {
  list: reading
    .meta({ alternative: firstForm, datastarExample: eventsOf(listed, { noteCount: 1 }) })
    .route({ method: 'GET', path: '/api/notes', summary: 'List your notes, newest first' })
    .input(Page.optional())
    .output(NotesList),
  create: creating([notesTopic])
    .meta({ alternative: firstForm, datastarExample: eventsOf(listed, { noteCount: 1, newNote: '' }) })
    .route({ method: 'POST', path: '/api/notes', summary: 'Add a note' })
    .input(AddNote)
    .output(Note),
  delete: writing
    .meta({
      updates: [notesTopic],
      datastarExample: eventsOf('<li id="no-notes">No notes yet</li>', { noteCount: 0 }),
    })
    .route({
      method: 'DELETE',
      path: '/api/notes/{id}',
      summary: 'Delete one of your notes',
      description: 'The id is the integer id of the first form. Succeeds also if the note does not exist.',
    })
    .input(ById)
    .output(Success),
  reset: writing
    .meta({ updates: [notesTopic] })
    .route({
      method: 'POST',
      path: '/api/notes/reset',
      summary: 'Delete all of your notes',
      description: 'Deletes the notes of both forms, also for the people they are shared with.',
    })
    .output(NotesReset),
}
