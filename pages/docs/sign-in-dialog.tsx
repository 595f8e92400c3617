import { useLayoutEffect, useRef } from 'react'

import { SignIn } from '../../engine/dev/page/components/session/sign-in.tsx'
import { useReferenceTexts } from './texts.ts'

/** The sign-in of the page at `/`, in a dialog. The dialog closes when the person is signed in. */
export function SignInDialog({ onClose }: { onClose: () => void }) {
  const { t } = useReferenceTexts()
  const dialog = useRef<HTMLDialogElement>(null)

  // A layout effect ends before the dialog leaves the document, so that the browser can return the focus.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => {
      element?.close()
    }
  }, [])

  return (
    <dialog ref={dialog} aria-labelledby="sign-in-title" onClose={onClose}>
      <article>
        <SignIn />
        <button type="button" className="secondary" onClick={onClose}>
          {t('close')}
        </button>
      </article>
    </dialog>
  )
}
