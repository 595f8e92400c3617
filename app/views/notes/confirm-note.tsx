import { useMutation } from '@tanstack/react-query'
import { Confirm } from 'tallystick-dev/page'

import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import type { Note } from './note.ts'

/** A change of a note that cannot be undone. */
export interface Question {
  note: Note
  action: 'delete' | 'leave'
}

interface Props extends Question {
  onClose: () => void
  /** Called after the change, when the lists still have the note. */
  onGone: () => Promise<unknown>
}

/** Asks before a note is deleted, or before the person leaves a note of another person. */
export function ConfirmNote({ note, action, onClose, onGone }: Props) {
  const { t } = useLanguage()
  const { id, title, sharedWith } = note
  const call = useMutation({
    mutationFn: () => orpc.notes[action].call({ id }),
    onSuccess: onGone,
  })
  const name = t(`${action}Note`)
  return (
    <Confirm
      title={name}
      action={name}
      isPending={call.isPending}
      error={call.error}
      onConfirm={() => {
        call.mutate()
      }}
      onClose={onClose}
    >
      <p>
        <strong>
          <bdi>{title}</bdi>
        </strong>
      </p>
      <p>{t(`${action}NoteText`, { count: sharedWith })}</p>
    </Confirm>
  )
}
