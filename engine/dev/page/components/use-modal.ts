import { useLayoutEffect, useRef } from 'react'

/**
 * Returns the attributes of a modal dialog that is open as long as its component is shown. Afterwards, the browser returns the focus to
 * the element that had the focus before.
 *
 * @example
 * <dialog {...useModal(onClose)} aria-label={t('signIn')}>…</dialog>
 */
export function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null)

  // A layout effect ends before the dialog leaves the document, so that the browser can return the focus.
  useLayoutEffect(() => {
    const element = ref.current
    element?.showModal()
    return () => {
      element?.close()
    }
  }, [])

  // In development, React runs the effect twice: the event of the first run arrives while the dialog is open.
  const closeIfClosed = () => {
    if (!ref.current?.open) onClose()
  }
  return { ref, onClose: closeIfClosed }
}
