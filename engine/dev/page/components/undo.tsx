import { type SyntheticEvent, useEffect } from 'react'
import { flushSync } from 'react-dom'
import { useLocation } from 'wouter'

import { useAppLanguage } from '../language.tsx'
import { forgetError, sendChanges, startUndoTime, stopUndoTime, undoChanges, useChanges } from '../undo.ts'
import { focusFirstControl } from './focus.ts'
import { CloseIcon } from './icons.tsx'
import { Problem } from './problem.tsx'

function resume({ currentTarget }: SyntheticEvent) {
  if (!currentTarget.matches(':hover, :focus-within')) startUndoTime()
}

/**
 * Shows the changes that the page has not sent yet (../undo.ts), and offers to undo the changes. Closing sends the changes. Stays
 * while the person opens other views. The time to undo stops while the pointer or the focus is inside.
 */
export function Undo() {
  const { t } = useAppLanguage()
  const { changes, error } = useChanges()
  const [location] = useLocation()
  const messages = [...new Set(changes.map(({ message }) => message))]

  useEffect(forgetError, [location])
  return (
    <div
      className="undo"
      onPointerEnter={stopUndoTime}
      onFocus={stopUndoTime}
      onPointerLeave={resume}
      onBlur={resume}
    >
      <p role="status">
        {messages
          .map((message) =>
            t(message, { count: changes.filter((change) => change.message === message).length }),
          )
          .join(' ')}
      </p>
      {changes.length > 0 && (
        <button
          aria-keyshortcuts="Control+Z Meta+Z"
          onClick={() => {
            // The button, which has the focus, disappears.
            const lastItemId = flushSync(undoChanges)
            focusFirstControl(lastItemId)
          }}
        >
          {t('undo')}
        </button>
      )}
      {changes.length > 0 && (
        <button
          className="close"
          title={t('close')}
          onClick={() => {
            focusFirstControl()
            void sendChanges()
          }}
        >
          <CloseIcon />
          <span className="hidden">{t('close')}</span>
        </button>
      )}
      <Problem error={error} />
    </div>
  )
}
