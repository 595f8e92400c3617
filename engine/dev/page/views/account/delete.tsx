import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'

import { orpc } from '../../api.ts'
import { restart } from '../../session-changes.ts'
import { Confirm } from '../../components/confirm.tsx'
import { usePerson } from '../../components/session/session.tsx'
import { useLanguage } from '../../language.tsx'

export function DeleteAccount() {
  const { t } = useLanguage()
  const person = usePerson()
  const [isOpen, setOpen] = useState(false)
  const [email, setEmail] = useState('')
  const remove = useMutation(orpc.account.delete.mutationOptions({ onSuccess: restart }))
  return (
    <section aria-labelledby="delete-title" className="explained">
      <div>
        <h2 id="delete-title">{t('deleteAccountTitle')}</h2>
        <p className="muted">{t('deleteAccountExplanation')}</p>
      </div>
      <div>
        <button
          className="danger"
          onClick={() => {
            setOpen(true)
          }}
        >
          {t('deleteAccount')}
        </button>
        {isOpen && (
          <Confirm
            title={t('deleteAccountQuestion')}
            action={t('deleteAccount')}
            isPending={remove.isPending || remove.isSuccess}
            error={remove.error}
            onConfirm={() => {
              remove.mutate({ email })
            }}
            onClose={() => {
              setOpen(false)
              setEmail('')
              remove.reset()
            }}
          >
            <p>{t('deleteAccountExplanation')}</p>
            <label>
              {t('confirmEmail', { email: person.email })}
              <input
                type="email"
                autoComplete="off"
                required
                value={email}
                onChange={({ target }) => {
                  setEmail(target.value)
                }}
              />
            </label>
          </Confirm>
        )}
      </div>
    </section>
  )
}
