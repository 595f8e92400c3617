import { memo, useEffect, useId, useRef, useState } from 'react'
import { useFocusOfList, useSession } from 'tallystick-dev/page'
import { Link } from 'wouter'

import { useLanguage } from '../../language.ts'
import { EditNote } from './edit-note.tsx'
import { type Note, noteEdits } from './note.ts'
import { NoteMeta } from './note-meta.tsx'
import { ShareNote } from './share-note.tsx'

interface Props {
  note: Note
  /** The note in the list. Undefined if the note was deleted or is no longer shared. */
  current: Note | undefined
  /** The version that the person is editing. */
  edited: Note | undefined
  /** Whether the person reads the whole note. */
  isOpen: boolean
  onDelete: (note: Note) => void
  onLeave: (note: Note) => void
}

/** A note in the list, with the actions that the person has the permission for. */
export const NoteItem = memo(function NoteItem({ note, current, edited, isOpen, onDelete, onLeave }: Props) {
  const { t } = useLanguage()
  const titleId = useId()
  const item = useFocusOfList()
  const editButton = useRef<HTMLButtonElement>(null)
  const shareButton = useRef<HTMLButtonElement>(null)
  const wasEdited = useRef(false)
  const [isSharing, setSharing] = useState(false)
  const { title, body, can, mine } = note
  const isImpersonated = Boolean(useSession()?.session.impersonatedBy)
  const canShare = can.SHARE_NOTE && !isImpersonated

  useEffect(() => {
    if (wasEdited.current && !edited) editButton.current?.focus()
    wasEdited.current = edited !== undefined
  }, [edited])

  return (
    <li ref={item} className={isOpen ? 'note open' : 'note'}>
      <h3 id={titleId}>
        <Link href={isOpen ? '/notes' : `/notes?note=${note.id}`} aria-current={isOpen || undefined}>
          <bdi>{title}</bdi>
        </Link>
      </h3>
      <NoteMeta note={note} />
      {edited ? (
        <EditNote base={edited} current={current} />
      ) : (
        <p className="text" dir="auto">
          {body}
        </p>
      )}
      {!edited && (
        <div className="row quiet">
          {can.EDIT_NOTE && (
            <button
              ref={editButton}
              className="secondary"
              aria-describedby={titleId}
              onClick={() => {
                noteEdits.keep(note.id, { base: note, fields: note })
              }}
            >
              {t('edit')}
            </button>
          )}
          {canShare && (
            <button
              ref={shareButton}
              className="secondary"
              aria-describedby={titleId}
              aria-expanded={isSharing}
              onClick={() => {
                setSharing(!isSharing)
              }}
            >
              {t('share')}
            </button>
          )}
          {can.DELETE_NOTE && (
            <button
              className="danger"
              aria-describedby={titleId}
              onClick={() => {
                onDelete(note)
              }}
            >
              {t('delete')}
            </button>
          )}
          {!mine && !isImpersonated && (
            <button
              className="danger"
              aria-describedby={titleId}
              onClick={() => {
                onLeave(note)
              }}
            >
              {t('leaveNote')}
            </button>
          )}
        </div>
      )}
      {isSharing && canShare && !edited && (
        <ShareNote
          note={note}
          onClose={() => {
            setSharing(false)
            shareButton.current?.focus()
          }}
        />
      )}
    </li>
  )
})
