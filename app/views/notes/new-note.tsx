import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'

import { orpc } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import { useLanguage } from '../../language.tsx'
import { keepTag, refreshNotes } from './note.ts'
import { NoteForm } from './note-form.tsx'

const empty = { title: '', body: '' }

/** The form for a new note. Hidden while the person edits another note, but keeps its text. */
export function NewNote({ isHidden }: { isHidden: boolean }) {
  const { t } = useLanguage()
  const [fields, setFields] = useState(empty)
  const create = useMutation(
    orpc.notes.create.mutationOptions({
      onSuccess: async (note) => {
        keepTag(note)
        await refreshNotes()
        setFields(empty)
      },
    }),
  )
  return (
    <section aria-labelledby="new-note-title" hidden={isHidden}>
      <h2 id="new-note-title">{t('newNote')}</h2>
      <NoteForm
        fields={fields}
        onChange={setFields}
        onSubmit={() => {
          create.mutate({ title: fields.title.trim(), body: fields.body })
        }}
        action={t('saveNote')}
        isPending={create.isPending}
      >
        <Problem error={create.error} />
      </NoteForm>
    </section>
  )
}
