import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'

import { orpc } from '../../api.ts'
import { Field } from '../../components/field.tsx'
import { Problem } from '../../components/problem.tsx'
import { usePerson } from '../../components/session.tsx'
import { useLanguage } from '../../language.tsx'
import type { Message } from '../../messages/index.ts'
import { keepTag, type Note, refreshNotes } from './note.ts'

const roles = ['reader', 'editor'] as const
const roleNames = { reader: 'reader', editor: 'editor' } as const satisfies Record<string, Message>

/** Shares a note with other people, one after the other. */
export function ShareNote({ note: { id }, onClose }: { note: Note; onClose: () => void }) {
  const { t } = useLanguage()
  const person = usePerson()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<(typeof roles)[number]>('reader')
  const isOwn = email.trim().toLowerCase() === person.email
  const share = useMutation(
    orpc.notes.share.mutationOptions({
      onSuccess: async (note) => {
        keepTag(note)
        setEmail('')
        await refreshNotes()
      },
    }),
  )
  return (
    <form
      className="share"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isOwn) share.mutate({ id, email: email.trim(), role })
      }}
    >
      <div className="row end">
        <Field
          label={t('shareWith')}
          type="email"
          required
          autoFocus
          autoComplete="email"
          value={email}
          onValue={setEmail}
          error={isOwn ? t('ownAddress') : undefined}
        />
        <label>
          {t('role')}
          <select
            value={role}
            onChange={({ target }) => {
              setRole(roles.find((each) => each === target.value) ?? role)
            }}
          >
            {roles.map((each) => (
              <option key={each} value={each}>
                {t(roleNames[each])}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p className="muted">{t('shareExplanation')}</p>
      <p role="status">{share.isSuccess && t('shared', { email: share.variables.email })}</p>
      <Problem error={share.error} />
      <div className="row">
        <button aria-busy={share.isPending} disabled={share.isPending}>
          {t('shareNote')}
        </button>
        <button type="button" className="secondary" onClick={onClose}>
          {t('close')}
        </button>
      </div>
    </form>
  )
}
