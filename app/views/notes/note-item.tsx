import { memo, useEffect, useId, useRef, useState } from 'react'
import { DeleteIcon, EditIcon, LeaveIcon, ShareIcon, useFocusOfList, useSession } from 'tallystick-dev/page'
import { Link, useLocation } from 'wouter'

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
  /** Whether the pane of the note is beside the list, or fills a narrow screen. */
  isOpen: boolean
  /** Opens the note, or closes the open note. */
  href: string
  onDelete: (note: Note) => void
  onLeave: (note: Note) => void
}

/** Length of the beginning of a body in the list, in UTF-16 code units. CSS shortens the text to the line. */
const MAX_EXCERPT = 300

const excerptOf = (body: string) => body.slice(0, MAX_EXCERPT)

/** A note in the list, with the actions that the person has the permission for. */
export const NoteItem = memo(function NoteItem({
  note,
  current,
  edited,
  isOpen,
  href,
  onDelete,
  onLeave,
}: Props) {
  const { t } = useLanguage()
  const titleId = useId()
  const item = useFocusOfList()
  const editButton = useRef<HTMLButtonElement>(null)
  const shareButton = useRef<HTMLButtonElement>(null)
  const wasEdited = useRef(false)
  const [isSharing, setSharing] = useState(false)
  const { title, body, can, mine } = note
  const isImpersonated = Boolean(useSession()?.session.impersonatedBy)
  const [, navigate] = useLocation()
  const open = () => {
    if (!isOpen) navigate(href)
  }
  const canShare = can.SHARE_NOTE && !isImpersonated

  useEffect(() => {
    if (wasEdited.current && !edited) editButton.current?.focus()
    wasEdited.current = edited !== undefined
  }, [edited])

  return (
    <li ref={item} className={isOpen ? 'note open' : 'note'}>
      <h2 id={titleId}>
        <Link href={href} aria-current={isOpen || undefined}>
          <bdi>{title}</bdi>
        </Link>
      </h2>
      {!edited && (
        <div className="row quiet">
          {can.EDIT_NOTE && (
            <button
              ref={editButton}
              className="secondary"
              title={t('edit')}
              aria-describedby={titleId}
              onClick={() => {
                noteEdits.keep(note.id, { base: note, fields: note })
                open()
              }}
            >
              <EditIcon />
              <span className="hidden">{t('edit')}</span>
            </button>
          )}
          {canShare && (
            <button
              ref={shareButton}
              className="secondary"
              title={t('share')}
              aria-describedby={titleId}
              aria-expanded={isSharing}
              onClick={() => {
                setSharing(!isSharing)
                open()
              }}
            >
              <ShareIcon />
              <span className="hidden">{t('share')}</span>
            </button>
          )}
          {can.DELETE_NOTE && (
            <button
              className="danger"
              title={t('delete')}
              aria-describedby={titleId}
              onClick={() => {
                onDelete(note)
              }}
            >
              <DeleteIcon />
              <span className="hidden">{t('delete')}</span>
            </button>
          )}
          {!mine && !isImpersonated && (
            <button
              className="danger"
              title={t('leaveNote')}
              aria-describedby={titleId}
              onClick={() => {
                onLeave(note)
              }}
            >
              <LeaveIcon />
              <span className="hidden">{t('leaveNote')}</span>
            </button>
          )}
        </div>
      )}
      <div className="facts">
        <NoteMeta note={note} />
        {!isOpen && !edited && (
          <p className="muted" dir="auto">
            {excerptOf(body)}
          </p>
        )}
      </div>
      {(isOpen || isSharing || edited !== undefined) && (
        <div className="pane" data-title={title}>
          {edited ? (
            <EditNote base={edited} current={current} />
          ) : (
            isOpen && (
              <p className="text" dir="auto">
                {body}
              </p>
            )
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
          {isOpen && !edited && !isSharing && (
            <p>
              <Link href={href} aria-describedby={titleId}>
                {t('close')}
              </Link>
            </p>
          )}
        </div>
      )}
    </li>
  )
})
