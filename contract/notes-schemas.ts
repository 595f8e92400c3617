import * as z from 'zod'
import { isBlank, MAX_EMAIL, requestSchemas, responseSchemas, text } from 'tallystick-contract'

import { noteBounds } from './bounds.ts'

export const noteId = '019b7a2e-5c80-7d3f-9a41-6b0c2d8e4f17'
const example = {
  id: noteId,
  title: 'Plan',
  body: 'Milk and bread',
  mine: true,
  sharedWith: 1,
  updatedAt: '2026-01-01T10:00:00.000Z',
  can: { VIEW_NOTE: true, EDIT_NOTE: true, SHARE_NOTE: true, DELETE_NOTE: true },
}

const exampleShare = {
  email: 'bob@example.com',
  role: 'reader' as const,
  createdAt: '2026-01-01T10:00:00.000Z',
}

export const NoteView = z
  .object({
    id: z.string(),
    title: z.string(),
    body: z.string(),
    mine: z.boolean(),
    sharedWith: z.int(),
    updatedAt: z.iso.datetime(),
    can: z.object({
      VIEW_NOTE: z.boolean(),
      EDIT_NOTE: z.boolean(),
      SHARE_NOTE: z.boolean(),
      DELETE_NOTE: z.boolean(),
    }),
  })
  .register(responseSchemas, { id: 'NoteView', example })
export const NoteList = z
  .object({
    notes: z.array(NoteView),
    can: z.object({ CREATE_NOTE: z.boolean() }),
  })
  .register(responseSchemas, { id: 'NoteList', example: { notes: [example], can: { CREATE_NOTE: true } } })
export const NoteInput = z
  .object({
    title: text({ min: 1, max: noteBounds.title, schema: z.string().trim() })
      .refine((value) => value === '' || !isBlank(value), 'Must not be blank')
      .meta({ description: 'White space at both ends is removed before the length is checked.' }),
    body: text({ max: noteBounds.body }),
  })
  .register(requestSchemas, { id: 'NoteInput', example: { title: 'Plan', body: 'Milk and bread' } })
export const ShareInput = z
  .object({ email: z.email().max(MAX_EMAIL), role: z.enum(['reader', 'editor']) })
  .register(requestSchemas, { id: 'ShareInput', example: { email: 'bob@example.com', role: 'reader' } })
/** A share, identified by the e-mail address. No field tells whether an account has the address. */
export const Share = z
  .object({ email: z.string(), role: ShareInput.shape.role, createdAt: z.iso.datetime() })
  .register(responseSchemas, { id: 'Share', example: exampleShare })
export const ShareList = z
  .object({ shares: z.array(Share) })
  .register(responseSchemas, { id: 'ShareList', example: { shares: [exampleShare] } })
export const UnshareInput = ShareInput.pick({ email: true }).register(requestSchemas, {
  id: 'UnshareInput',
  example: { email: 'bob@example.com' },
})
export const DeleteResult = z
  .object({ id: z.string() })
  .register(responseSchemas, { id: 'DeleteResult', example: { id: noteId } })

/** Accepts every value, so that the answer to a malformed id is 404 and not 400. A value that is no text becomes the empty text, which is no id. */
export const NoteId = z.object({
  id: z
    .string()
    .catch('')
    .meta({ examples: [noteId] }),
})
