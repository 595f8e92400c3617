import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Field, Problem, usePerson } from 'tallystick-dev/page'

import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { keepTag, type Note, refreshNotes } from './note.ts'
import { type Role, RoleSelect } from './role-select.tsx'
import { ShareList } from './share-list.tsx'

/** Shares a note with other people, one after the other, and shows the people with access. */
export function ShareNote({ note: { id }, onClose }: { note: Note; onClose: () => void }) {
  const { t } = useLanguage()
  const person = usePerson()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('reader')
  const [outcome, setOutcome] = useState('')
  const rules = { email: { label: t('shareWith'), type: 'email' } }
  const isOwn = email.trim().toLowerCase() === person.email
  const share = useMutation(
    orpc.notes.share.mutationOptions({
      onSuccess: async (note, { email: address }) => {
        keepTag(note)
        setEmail('')
        await refreshNotes()
        setOutcome(t('shared', { email: address }))
      },
    }),
  )
  return (
    <div className="share">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isOwn) share.mutate({ id, email: email.trim(), role })
        }}
      >
        <div className="row end">
          <Field
            {...rules.email}
            required
            autoFocus
            autoComplete="email"
            value={email}
            onValue={setEmail}
            error={isOwn ? t('ownAddress') : undefined}
          />
          <label>
            {t('role')}
            <RoleSelect role={role} onRole={setRole} />
          </label>
        </div>
        <p className="muted">{t('shareExplanation')}</p>
        <Problem error={share.error} fields={rules} />
        <div className="row">
          <button aria-busy={share.isPending} disabled={share.isPending}>
            {t('shareNote')}
          </button>
          <button type="button" className="secondary" onClick={onClose} aria-keyshortcuts="Escape">
            {t('close')}
          </button>
        </div>
      </form>
      <p role="status" className="outcome">
        {outcome}
      </p>
      <ShareList noteId={id} announce={setOutcome} />
    </div>
  )
}
