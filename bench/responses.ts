import { negotiateLanguage } from '../src/messages/index.ts'

// What every peer makes of its rows: the answers of the service, written once by hand.

export interface TaskRow {
  id: number
  userId: string
  title: string
  description: string | null
  status: 'pending' | 'in_progress' | 'completed'
  createdAt: Date
  updatedAt: Date
}

export interface NoteRow {
  uuid: string
  userId: string
  title: string
  body: string
  updatedAt: Date
  role: 'reader' | 'editor' | null
  sharedWith: number
}

const seconds = (moment: Date) => Math.floor(moment.getTime() / 1000)

export const taskView = ({ id, userId, title, description, status, createdAt, updatedAt }: TaskRow) => ({
  id,
  userId,
  title,
  description,
  status,
  createdAt: seconds(createdAt),
  updatedAt: seconds(updatedAt),
})

export const taskList = (rows: TaskRow[]) => ({ tasks: rows.map(taskView), taskCount: rows.length })

export function noteView(row: NoteRow, viewerId: string) {
  const mine = row.userId === viewerId
  return {
    id: row.uuid,
    title: row.title,
    body: row.body,
    mine,
    sharedWith: mine ? row.sharedWith : 0,
    updatedAt: row.updatedAt.toISOString(),
    can: {
      VIEW_NOTE: true,
      EDIT_NOTE: mine || row.role === 'editor',
      SHARE_NOTE: mine,
      DELETE_NOTE: mine,
    },
  }
}

export const noteList = (rows: NoteRow[], viewerId: string) => ({
  notes: rows.map((row) => noteView(row, viewerId)),
  can: { CREATE_NOTE: true },
})

const seats = { min: 1, max: 20 }

/** A confirmation in the caller's language, or, by field, what is wrong. */
export function reserve(input: { name: string; guests: number }, acceptLanguage?: string) {
  const { language, say } = negotiateLanguage(acceptLanguage)
  const name = input.name.trim()
  const { guests } = input
  const wrong = {
    ...(name === '' && { name: say('nameBlank') }),
    ...(guests > seats.max && { guests: say('guestsTooMany', seats) }),
    ...(guests < seats.min && { guests: say('guestsTooFew', seats) }),
    ...(!Number.isInteger(guests) && { guests: say('guestsNotWhole') }),
  }
  return Object.keys(wrong).length > 0
    ? { language, wrong }
    : { language, message: say('reserved', { name, guests }) }
}
