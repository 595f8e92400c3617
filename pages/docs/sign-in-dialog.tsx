import { SignIn } from '../../engine/dev/page/components/session/sign-in.tsx'
import { useModal } from '../../engine/dev/page/components/use-modal.ts'
import { useReferenceTexts } from './texts.ts'

/** The sign-in of the page at `/`, in a dialog. The dialog closes when the person is signed in. */
export function SignInDialog({ onClose }: { onClose: () => void }) {
  const { t } = useReferenceTexts()
  return (
    <dialog {...useModal(onClose)} aria-labelledby="sign-in-title">
      <article>
        <SignIn />
        <button type="button" className="secondary" onClick={onClose}>
          {t('close')}
        </button>
      </article>
    </dialog>
  )
}
