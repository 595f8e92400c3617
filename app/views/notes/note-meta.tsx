import { useLanguage } from '../../language.ts'
import type { Note } from './note.ts'

/** The number of readers of a note, and the time of the last change. */
export function NoteMeta({ note: { mine, sharedWith, can, ...note } }: { note: Note }) {
  const { t, formatAge, formatTime } = useLanguage()
  const updatedAt = Date.parse(note.updatedAt) / 1000
  return (
    <p className="muted meta">
      {mine ? (
        // Most notes are not shared: only screen readers say so.
        <span className={sharedWith === 0 ? 'hidden' : undefined}>
          {t('sharedWith', { count: sharedWith })}
          {' · '}
        </span>
      ) : (
        <>
          <span className="badge">{t(can.EDIT_NOTE ? 'sharedToEdit' : 'sharedToRead')}</span>
          {' · '}
        </>
      )}
      <time dateTime={note.updatedAt} title={formatTime(updatedAt)}>
        {formatAge(updatedAt)}
      </time>
    </p>
  )
}
