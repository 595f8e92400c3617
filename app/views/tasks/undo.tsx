import { useEffect } from 'react'
import { flushSync } from 'react-dom'
import { Problem } from 'tallystick/page'

import { useLanguage } from '../../language.ts'
import { undoDeletions, useDeletions } from './deletions.ts'

/** Moves the focus to a task, or to the view if the list does not show the task. */
function focusTask(id: number | undefined) {
  const task = document.getElementById(`task-${id}`)
  const target = task?.querySelector('input') ?? document.getElementById('content')
  target?.focus()
}

/** Announces deletions, and offers to undo them with a button and with Ctrl+Z. */
export function Undo() {
  const { t } = useLanguage()
  const { pending, error } = useDeletions()

  useEffect(() => {
    if (pending.length === 0) return undefined
    const onKey = (event: KeyboardEvent) => {
      const isText =
        event.target instanceof Element && event.target.matches('textarea, input:not([type=checkbox])')
      if (isText || event.key !== 'z' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      undoDeletions()
    }
    addEventListener('keydown', onKey)
    return () => {
      removeEventListener('keydown', onKey)
    }
  }, [pending])

  return (
    <>
      <div className="undo">
        <p role="status">{pending.length > 0 && t('tasksDeleted', { count: pending.length })}</p>
        {pending.length > 0 && (
          <button
            aria-keyshortcuts="Control+Z Meta+Z"
            onClick={() => {
              flushSync(undoDeletions)
              // The button, which had the focus, has disappeared.
              focusTask(pending.at(-1))
            }}
          >
            {t('undo')}
          </button>
        )}
      </div>
      <Problem error={error} />
    </>
  )
}
