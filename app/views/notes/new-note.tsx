import { useMutation } from '@tanstack/react-query'

import { orpc } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import { useLanguage } from '../../language.tsx'
import { isEqual, keepTag, newNoteDrafts, type NoteFields, refreshNotes } from './note.ts'
import { NoteForm } from './note-form.tsx'

const empty = { title: '', body: '' }

function changeFields(fields: NoteFields) {
  if (isEqual(fields, empty)) newNoteDrafts.forget('new')
  else newNoteDrafts.keep('new', fields)
}

/** The form for a new note. Hidden while the person edits another note. */
export function NewNote({ isHidden }: { isHidden: boolean }) {
  const { t } = useLanguage()
  const fields = newNoteDrafts.use('new') ?? empty
  const create = useMutation(
    orpc.notes.create.mutationOptions({
      onSuccess: async (note) => {
        keepTag(note)
        await refreshNotes()
        newNoteDrafts.forget('new')
      },
    }),
  )
  return (
    <section aria-labelledby="new-note-title" hidden={isHidden}>
      <h2 id="new-note-title">{t('newNote')}</h2>
      <NoteForm
        fields={fields}
        onChange={changeFields}
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
