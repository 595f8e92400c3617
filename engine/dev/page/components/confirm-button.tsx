import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'

import { Confirm } from './confirm.tsx'

interface Props {
  /** The name of the button, and of the question. */
  action: string
  onConfirm: () => Promise<unknown>
  /** The consequences. */
  children: ReactNode
}

/**
 * A button for a change that cannot be undone: asks before. If the button disappears after the change, the view receives the focus.
 *
 * @example
 * <ConfirmButton action={t('leave')} onConfirm={leave}><p>{t('leaveText')}</p></ConfirmButton>
 */
export function ConfirmButton({ action, onConfirm, children }: Props) {
  const [isAsking, setAsking] = useState(false)
  const { isPending, error, mutate, reset } = useMutation({
    mutationFn: onConfirm,
    onSuccess: () => {
      setAsking(false)
      // The button that opened the dialog can be gone, and with the button the focus.
      if (document.activeElement === document.body) document.getElementById('content')?.focus()
    },
  })
  return (
    <>
      <button
        className="danger"
        onClick={() => {
          setAsking(true)
        }}
      >
        {action}
      </button>
      {isAsking && (
        <Confirm
          title={action}
          action={action}
          isPending={isPending}
          error={error}
          onConfirm={() => {
            mutate()
          }}
          onClose={() => {
            reset()
            setAsking(false)
          }}
        >
          {children}
        </Confirm>
      )}
    </>
  )
}
