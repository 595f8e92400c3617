import { type InfiniteData, infiniteQueryOptions } from '@tanstack/react-query'
import { codeOf, createDrafts, createEdits, pagesOf, queryClient } from 'tallystick-dev/page'

import type { Outputs } from '../../../contract/client.ts'
import { orpc } from '../../api.ts'

export type Note = Outputs['notes']['list']['notes'][number]

/** The fields that a person can change. */
export type NoteFields = Pick<Note, 'title' | 'body'>

/** The fields of a new note. */
export const newNoteDrafts = createDrafts<'new', NoteFields>()

export const isEqual = (a: NoteFields, b: NoteFields) => a.title === b.title && a.body === b.body

export const noteEdits = createEdits<string, Note, NoteFields>(isEqual)

/** The notes with the text `q`, or all notes, in pages. */
export const notesQuery = (q?: string) =>
  infiniteQueryOptions(orpc.notes.list.infiniteOptions(pagesOf({ q })))

/** Requests the notes again. */
export const refreshNotes = () => queryClient.invalidateQueries({ queryKey: orpc.notes.key() })

/** Only in the lists that the page shows: another list in the cache may be old. */
const findNote = (id: string) =>
  queryClient
    .getQueriesData<InfiniteData<Outputs['notes']['list']>>({
      queryKey: orpc.notes.list.key({ type: 'infinite' }),
      type: 'active',
    })
    .flatMap(([, data]) => data?.pages ?? [])
    .flatMap(({ notes }) => notes)
    .find((note) => note.id === id)

/** Entity tags from the responses to changes, by the id of the note. The list has no entity tags. */
const tags = new Map<string, { etag: string; updatedAt: string }>()

export function keepTag({ id, etag, updatedAt }: Note & { etag?: string }) {
  if (etag) tags.set(id, { etag, updatedAt })
}

/**
 * Replaces the version that the person has seen. Throws PRECONDITION_FAILED if the note is no longer this version. Without
 * an entity tag, the service cannot recognize a change in the last moment.
 */
export async function replaceNote({ id, updatedAt }: Note, { title, body }: NoteFields) {
  const tag = tags.get(id)
  const headers = tag?.updatedAt === updatedAt ? { 'if-match': tag.etag } : undefined
  const update = (context = {}) => orpc.notes.update.call({ id, title: title.trim(), body }, { context })
  try {
    return await update({ headers })
  } catch (error) {
    if (codeOf(error) !== 'PRECONDITION_FAILED') throw error
    tags.delete(id)
    await refreshNotes()
    // Sharing changes the entity tag, but not the version that the person has seen.
    if (findNote(id)?.updatedAt === updatedAt) return await update()
    throw error
  }
}
