import { negotiateLanguage } from '../../src/texts.ts'

// Hand-written code that creates the response bodies of the peers. The bodies must equal the response bodies of
// Tallystick.

/** A row of the table `tasks`, with times in Unix seconds: the same as the task in a response. */
export interface TaskRow {
  id: number
  userId: string
  title: string
  description: string | null
  status: 'pending' | 'in_progress' | 'completed'
  createdAt: number
  updatedAt: number
}

/** The number of rows of a list without `limit`. */
export const MAX_ROWS = 1000

export interface NoteRow {
  uuid: string
  userId: string
  title: string
  body: string
  /** Milliseconds since the Unix epoch. */
  updatedAt: number
  role: 'reader' | 'editor' | null
  sharedWith: number
}

export const taskList = (tasks: TaskRow[]) => ({ tasks, taskCount: tasks.length })

function noteBody(row: NoteRow, viewerId: string) {
  const mine = row.userId === viewerId
  return {
    id: row.uuid,
    title: row.title,
    body: row.body,
    mine,
    sharedWith: mine ? row.sharedWith : 0,
    updatedAt: new Date(row.updatedAt).toISOString(),
    can: {
      VIEW_NOTE: true,
      EDIT_NOTE: mine || row.role === 'editor',
      SHARE_NOTE: mine,
      DELETE_NOTE: mine,
    },
  }
}

export const noteList = (rows: NoteRow[], viewerId: string) => ({
  notes: rows.map((row) => noteBody(row, viewerId)),
  can: { CREATE_NOTE: true },
})

const guestBounds = { min: 1, max: 20 }

/** Returns a confirmation, or an error message for each invalid field, in the language of the caller. */
export function reserve(input: { name: string; guests: number }, acceptLanguage?: string) {
  const { language, translate } = negotiateLanguage(acceptLanguage)
  const name = input.name.trim()
  const { guests } = input
  const errors = {
    ...(name === '' && { name: translate('nameBlank') }),
    ...(guests > guestBounds.max && { guests: translate('guestsTooMany', guestBounds) }),
    ...(guests < guestBounds.min && { guests: translate('guestsTooFew', guestBounds) }),
    ...(!Number.isInteger(guests) && { guests: translate('guestsNotWhole') }),
  }
  return Object.keys(errors).length > 0
    ? { language, errors }
    : { language, message: translate('reserved', { name, guests }) }
}
