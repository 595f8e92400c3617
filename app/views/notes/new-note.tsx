import { useIsMutating, useMutation } from '@tanstack/react-query'

import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
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
  const mutationKey = orpc.notes.create.mutationKey()
  const create = useMutation({
    mutationKey,
    mutationFn: ({ title, body }: NoteFields) => orpc.notes.create.call({ title: title.trim(), body }),
    onSuccess: async (note, sent) => {
      keepTag(note)
      await refreshNotes()
      // The person may have continued to write during the request.
      if (newNoteDrafts.get('new') === sent) newNoteDrafts.forget('new')
    },
  })
  // The request can also come from the form before the person opened another view.
  const isPending = useIsMutating({ mutationKey }) > 0
  return (
    <section aria-label={t('newNote')} className={isHidden ? 'new-note absent' : 'new-note'}>
      <NoteForm
        fields={fields}
        onChange={changeFields}
        onSubmit={() => {
          create.mutate(fields)
        }}
        action={t('saveNote')}
        isPending={isPending}
        isPaused={create.isPaused}
        error={create.error}
      />
    </section>
  )
}
