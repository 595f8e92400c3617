import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { codeOf, Conflict } from 'tallystick-dev/page'

import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { isEqual, keepTag, type Note, noteEdits, type NoteFields, refreshNotes, replaceNote } from './note.ts'
import { NoteForm, NoteVersion } from './note-form.tsx'

interface Props {
  /** The version of the note when the person began to edit. */
  base: Note
  /** The note in the list, which changes while the person edits. Undefined if the note was deleted or is no longer shared. */
  current: Note | undefined
}

interface Save {
  /** The version that the person has seen. */
  seen: Note
  fields: NoteFields
}

/** The errors that the form explains in its own words. */
const explained = ['PRECONDITION_FAILED', 'NOT_FOUND', 'FORBIDDEN']

/** Edits a note in its place in the list. A change by another person is not overwritten without a decision. */
export function EditNote({ base, current }: Props) {
  const { t } = useLanguage()
  const mine = noteEdits.use(base.id)?.fields ?? base
  const close = () => {
    noteEdits.forget(base.id)
  }
  const [isRefused, setRefused] = useState(false)
  const conflict = useRef<HTMLDivElement>(null)

  const canEdit = current?.can.EDIT_NOTE === true && !isRefused
  const theirs = current && !isEqual(current, base) && !isEqual(current, mine) ? current : undefined

  const save = useMutation({
    /** Saves if the note still is the version that the person has seen. A note that the person cannot edit becomes a new note. */
    mutationFn: ({ seen, fields }: Save) =>
      canEdit ? replaceNote(seen, fields) : orpc.notes.create.call(fields),
    onSuccess: async (saved, { fields }) => {
      keepTag(saved)
      await refreshNotes()
      // The person has continued to write during the request.
      const written = noteEdits.get(base.id)?.fields
      if (written && written !== fields && saved.id === base.id)
        noteEdits.keep(base.id, { base: saved, fields: written })
      else close()
    },
    onError: (error) => {
      setRefused(['NOT_FOUND', 'FORBIDDEN'].includes(codeOf(error) ?? ''))
    },
  })

  return (
    <NoteForm
      fields={mine}
      onChange={(fields) => {
        noteEdits.keep(base.id, { base, fields })
      }}
      onClose={close}
      action={t(canEdit ? 'saveNote' : 'saveAsNewNote')}
      isPending={save.isPending}
      isPaused={save.isPaused}
      error={explained.includes(codeOf(save.error) ?? '') ? undefined : save.error}
      onSubmit={() => {
        if (theirs && canEdit) conflict.current?.focus()
        else save.mutate({ seen: current ?? base, fields: mine })
      }}
    >
      {!canEdit && !save.isPending && <p role="alert">{t(current ? 'noteNotEditable' : 'noteGone')}</p>}
      {canEdit && theirs && (
        <Conflict
          ref={conflict}
          message={t('noteChangedElsewhere')}
          mine={<NoteVersion fields={mine} />}
          theirs={<NoteVersion fields={theirs} />}
          isPending={save.isPending}
          onKeep={() => {
            save.mutate({ seen: theirs, fields: mine })
          }}
          onTake={close}
        />
      )}
    </NoteForm>
  )
}
