import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { MAX_NAME } from 'tallystick-contract/internal'

import { restart } from '../../session-changes.ts'
import { banUser, impersonate, peopleKey, setRole, unbanUser, type User } from '../../auth.ts'
import { Confirm } from '../../components/confirm.tsx'
import { usePerson } from '../../components/session/session.tsx'
import { useLanguage } from '../../language.tsx'
import type { Message } from '../../texts.ts'

interface Definition {
  run: (userId: string, reason: string) => Promise<unknown>
  explanation: Message
  /** Whether the button has no warning color: the action can be undone. */
  isHarmless: boolean
}

/** What an administrator can do with an account. The keys are also the messages of the buttons. */
export const actions = {
  promote: { run: (id) => setRole(id, 'admin'), explanation: 'promoteExplanation', isHarmless: true },
  demote: { run: (id) => setRole(id, 'user'), explanation: 'demoteExplanation', isHarmless: true },
  ban: {
    run: (id, reason) => banUser(id, reason || undefined),
    explanation: 'banExplanation',
    isHarmless: false,
  },
  unban: { run: unbanUser, explanation: 'unbanExplanation', isHarmless: true },
  impersonate: { run: impersonate, explanation: 'impersonateExplanation', isHarmless: true },
} satisfies Record<string, Definition>

export type Action = keyof typeof actions

export interface OpenAction {
  action: Action
  user: User
}

interface Props extends OpenAction {
  /** Receives a message about the outcome. */
  onDone: (message: string) => void
  onClose: () => void
}

/** Asks for a confirmation of an action, and runs the action. */
export function ActionDialog({ action, user, onDone, onClose }: Props) {
  const { t } = useLanguage()
  const queryClient = useQueryClient()
  const person = usePerson()
  const [reason, setReason] = useState('')
  const isOwnDemotion = action === 'demote' && person.id === user.id
  const { explanation, run } = actions[action]

  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => run(user.id, reason),
    onSuccess: async () => {
      // The person of the page, or the role of the person, is another one now.
      if (action === 'impersonate' || isOwnDemotion) {
        restart()
        return
      }
      // `invalidateQueries` does not cancel the first request of a list, whose response may be older than the action.
      await queryClient.cancelQueries({ queryKey: peopleKey })
      await queryClient.invalidateQueries({ queryKey: peopleKey })
      onDone(t('personChanged', { email: user.email }))
      onClose()
    },
  })
  return (
    <Confirm
      title={`${t(action)}: ${user.email}`}
      action={t(action)}
      isPending={isPending || isSuccess}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      <p>{t(isOwnDemotion ? 'ownDemotionExplanation' : explanation)}</p>
      {action === 'ban' && (
        <label>
          {t('banReason')}
          <input
            dir="auto"
            maxLength={MAX_NAME}
            value={reason}
            onChange={({ target }) => {
              setReason(target.value)
            }}
          />
        </label>
      )}
    </Confirm>
  )
}
