import * as z from 'zod'
import {
  changing,
  creating,
  exportPart,
  Page,
  type RateLimit,
  reading,
  resourceContract,
  Search,
  Timestamp,
  topic,
} from 'tallystick-contract'

import {
  DeleteResult,
  NoteId,
  noteId,
  NoteInput,
  NoteList,
  NoteView,
  ShareInput,
  ShareList,
  UnshareInput,
} from './notes-schemas.ts'

/** The notes that a list contains. */
const NoteFilter = z.object({ ...Search.shape, limit: Page.shape.limit })

export const notesTopic = topic('notes', { access: 'signedIn', state: NoteList, input: NoteFilter })

const { role } = ShareInput.shape
const today = 1767261600

/**
 * The notes of the person. The only data from or about other people are the e-mail addresses that the person entered,
 * and the titles of the newest notes that other people share with the person.
 */
export const notesExport = exportPart({
  contents: ['notes', 'shares'],
  shape: {
    notes: z.array(
      z.object({
        id: z.string(),
        number: z.int().meta({ description: 'The id of the note in the first form' }),
        title: z.string(),
        body: z.string(),
        sharedWith: z.array(
          z.object({ email: z.string(), role, createdAt: Timestamp, updatedAt: Timestamp }),
        ),
        createdAt: Timestamp,
        updatedAt: Timestamp,
      }),
    ),
    notesOfOthers: z
      .array(z.object({ id: z.string(), title: z.string(), role }))
      .meta({ description: 'The newest notes that other people share with the person, at most 1,000' }),
    notesOfOthersCount: z
      .int()
      .meta({ description: 'The number of all notes that other people share with the person' }),
  },
  example: {
    notes: [
      {
        id: noteId,
        number: 7,
        title: 'Plan',
        body: 'Milk and bread',
        sharedWith: [{ email: 'bob@example.com', role: 'reader', createdAt: today, updatedAt: today }],
        createdAt: today,
        updatedAt: today,
      },
    ],
    notesOfOthers: [],
    notesOfOthersCount: 0,
  },
})

const noteErrors = {
  NOT_FOUND: { status: 404, message: 'There is no such note' },
  FORBIDDEN: { status: 403, message: 'You may not do this to the note' },
}

/** The actions in `can`, and the action of recipients. */
export type NoteAction =
  keyof z.infer<typeof NoteView>['can'] | keyof z.infer<typeof NoteList>['can'] | 'LEAVE_NOTE'

const changingNote = (action: NoteAction) => changing([notesTopic]).meta({ action }).errors(noteErrors)

/** Limits `notes.share` by the account of the sender. */
const shareLimit: RateLimit = {
  name: 'shares',
  points: 100,
  duration: 3600,
  perAccount: true,
  inDatabase: true,
}
/**
 * Limits `notes.share` by sender and address (src/notes.ts has the key). A limit by address alone would tell a sender that other people
 * share with the address.
 */
export const addressLimit: RateLimit = { name: 'sharesToAddress', points: 30, duration: 3600 }

/** Builder of procedures that change the shares of a note. An administrator must not do so as another person. */
const changingShares = changingNote('SHARE_NOTE').meta({ etag: true, noImpersonation: true })

/** Adds an optional request body to the OpenAPI document: clients may send an empty object or no body. */
const withOptionalBody = <Operation extends object>(operation: Operation) => ({
  ...operation,
  requestBody: {
    required: false,
    content: { 'application/json': { schema: { type: 'object' as const }, example: {} } },
  },
})

export const notes = resourceContract({
  topics: [notesTopic],
  exports: notesExport,
  procedures: {
    list: reading
      .meta({
        reads: notesTopic,
        tool: {
          title: 'List notes',
          description:
            'Lists the person’s notes and the notes shared with the person, with the actions permitted for each. Optionally only those with a text in title or body.',
          effect: 'read',
        },
      })
      .route({ method: 'GET', path: '/api/notes', summary: 'List your notes and those shared with you' })
      .input(NoteFilter.extend({ cursor: Page.shape.cursor }).optional())
      .output(NoteList),
    create: creating([notesTopic])
      .meta({
        action: 'CREATE_NOTE',
        etag: true,
        tool: {
          title: 'Write a note',
          description: 'Writes a note with a title and a body, which may be empty.',
          effect: 'create',
        },
      })
      .route({ method: 'POST', path: '/api/notes', summary: 'Write a note' })
      .input(NoteInput)
      .output(NoteView),
    update: changingNote('EDIT_NOTE')
      .meta({
        etag: true,
        tool: {
          title: 'Change a note',
          description: 'Replaces both the title and the body of a note that the person may edit.',
          effect: 'overwrite',
        },
      })
      .route({ method: 'POST', path: '/api/notes/{id}', summary: 'Change a note' })
      .input(NoteInput.extend(NoteId.shape))
      .output(NoteView),
    shares: reading
      .meta({ action: 'SHARE_NOTE' })
      .errors(noteErrors)
      .meta({
        tool: {
          title: 'List the shares of a note',
          description:
            'Lists the e-mail addresses that one of the person’s notes is shared with, with the role of each.',
          effect: 'read',
        },
      })
      .route({
        method: 'GET',
        path: '/api/notes/{id}/shares',
        summary: 'List the shares of a note, newest first',
      })
      .input(NoteId.extend(Page.shape))
      .output(ShareList),
    share: changingShares
      .meta({
        rateLimit: shareLimit,
        inputLimits: [addressLimit],
        tool: {
          title: 'Share a note',
          description:
            'Shares one of the person’s notes with an e-mail address, as reader or editor. Sharing again changes the role.',
          effect: 'overwrite',
        },
      })
      .route({
        method: 'POST',
        path: '/api/notes/{id}/share',
        summary: 'Share a note with an e-mail address',
      })
      .input(ShareInput.extend(NoteId.shape))
      .output(NoteView),
    unshare: changingShares
      .meta({
        tool: {
          title: 'Remove a share of a note',
          description:
            'Removes an e-mail address from the people that one of the person’s notes is shared with.',
          effect: 'overwrite',
        },
      })
      .route({
        method: 'POST',
        path: '/api/notes/{id}/unshare',
        summary: 'Remove the share of a note with an e-mail address',
      })
      .input(UnshareInput.extend(NoteId.shape))
      .output(NoteView),
    leave: changingNote('LEAVE_NOTE')
      .meta({
        noImpersonation: true,
        tool: {
          title: 'Leave a note',
          description:
            'Ends the person’s own access to a note that another person shares. Only the author of the note can share the note again.',
          effect: 'overwrite',
        },
      })
      .route({
        method: 'POST',
        path: '/api/notes/{id}/leave',
        summary: 'Leave a note that another person shares with you',
        spec: withOptionalBody,
      })
      .input(NoteId)
      .output(DeleteResult),
    delete: changingNote('DELETE_NOTE')
      .meta({
        tool: {
          title: 'Delete a note',
          description:
            'Deletes one of the person’s notes permanently, also for the people it is shared with.',
          effect: 'overwrite',
        },
      })
      .route({
        method: 'POST',
        path: '/api/notes/{id}/delete',
        summary: 'Delete a note',
        spec: withOptionalBody,
      })
      .input(NoteId)
      .output(DeleteResult),
  },
})
