import { useMutation } from '@tanstack/react-query'
import { Confirm } from 'tallystick-dev/page'

import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { type Note, refreshNotes } from './note.ts'

interface Question {
  note: Note
  onClose: () => void
}

/** After the call, closes the question, and requests the notes again. */
const closing = (onClose: () => void) => ({
  onSuccess: () => {
    onClose()
    return refreshNotes()
  },
})

/** Asks before a note is deleted. */
export function DeleteNote({ note, onClose }: Question) {
  const { t } = useLanguage()
  const call = useMutation(orpc.notes.delete.mutationOptions(closing(onClose)))
  const text = t('deleteNoteText', { count: note.sharedWith })
  return <ConfirmNote note={note} onClose={onClose} call={call} action={t('deleteNote')} text={text} />
}

/** Asks before the person leaves a note of another person. */
export function LeaveNote({ note, onClose }: Question) {
  const { t } = useLanguage()
  const call = useMutation(orpc.notes.leave.mutationOptions(closing(onClose)))
  return (
    <ConfirmNote
      note={note}
      onClose={onClose}
      call={call}
      action={t('leaveNote')}
      text={t('leaveNoteText')}
    />
  )
}

interface ConfirmNoteProps extends Question {
  call: { isPending: boolean; error: Error | null; mutate: (input: { id: string }) => void }
  action: string
  text: string
}

function ConfirmNote({ note: { id, title }, onClose, call, action, text }: ConfirmNoteProps) {
  return (
    <Confirm
      title={action}
      action={action}
      isPending={call.isPending}
      error={call.error}
      onConfirm={() => {
        call.mutate({ id })
      }}
      onClose={onClose}
    >
      <p>
        <strong>
          <bdi>{title}</bdi>
        </strong>
      </p>
      <p>{text}</p>
    </Confirm>
  )
}
