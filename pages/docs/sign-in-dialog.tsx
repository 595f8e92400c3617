import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useState } from 'react'

import { sessionQuery } from '../../engine/dev/page/auth.ts'
import { SignIn } from '../../engine/dev/page/components/session/sign-in.tsx'
import { useModal } from '../../engine/dev/page/components/use-modal.ts'
import { useReferenceTexts } from './texts.ts'

/** Opens the dialog of the sign-in. */
export const OpenSignIn = createContext<() => void>(() => undefined)

/** Shows the sign-in above its content. The dialog closes when the person is signed in. */
export function WithSignIn({ children }: { children: ReactNode }) {
  const { data: session } = useQuery(sessionQuery)
  // A provider sends a failed sign-in back with an error, which the dialog shows.
  const [isOpen, setOpen] = useState(() => new URLSearchParams(location.search).has('error'))
  const open = () => {
    setOpen(true)
  }
  const close = () => {
    setOpen(false)
  }
  return (
    <OpenSignIn value={open}>
      {children}
      {isOpen && !session && <SignInDialog onClose={close} />}
    </OpenSignIn>
  )
}

/** The sign-in of the page at `/`, in a dialog. */
function SignInDialog({ onClose }: { onClose: () => void }) {
  const { t } = useReferenceTexts()
  return (
    <dialog {...useModal(onClose)} className="sign-in-dialog" aria-labelledby="sign-in-title">
      <article>
        <SignIn />
        <button type="button" className="secondary close" onClick={onClose}>
          {t('close')}
        </button>
      </article>
    </dialog>
  )
}
