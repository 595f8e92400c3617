import { useMutation } from '@tanstack/react-query'
import { Confirm } from 'tallystick/page'

import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { type Note, refreshNotes } from './note.ts'

/** Asks before the person leaves a note of another person. */
export function LeaveNote({ note: { id, title }, onClose }: { note: Note; onClose: () => void }) {
  const { t } = useLanguage()
  const leave = useMutation(
    orpc.notes.leave.mutationOptions({
      onSuccess: () => {
        onClose()
        return refreshNotes()
      },
    }),
  )
  return (
    <Confirm
      title={t('leaveNote')}
      action={t('leaveNote')}
      isPending={leave.isPending}
      error={leave.error}
      onConfirm={() => {
        leave.mutate({ id })
      }}
      onClose={onClose}
    >
      <p>
        <strong>
          <bdi>{title}</bdi>
        </strong>
      </p>
      <p>{t('leaveNoteText')}</p>
    </Confirm>
  )
}
