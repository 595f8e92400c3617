import { lazy, memo, Suspense, useRef, useState } from 'react'
import {
  DeleteAction,
  Detail,
  EditAction,
  LeaveIcon,
  Loading,
  Row,
  RowAction,
  RowActions,
  RowTitle,
  ShareIcon,
  useRowTitle,
  useSession,
} from 'tallystick-dev/page'
import { Link, useLocation } from 'wouter'

import { useLanguage } from '../../language.ts'
import type { Question } from './confirm-note.tsx'
import { EditNote } from './edit-note.tsx'
import { type Note, noteEdits } from './note.ts'
import { NoteMeta } from './note-meta.tsx'

// Loaded on demand, because few people share.
const ShareNote = lazy(async () => ({ default: (await import('./share-note.tsx')).ShareNote }))

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
  /** Asks before a change that cannot be undone. */
  onAsk: (question: Question) => void
}

/** Length of the beginning of a body in the list, in UTF-16 code units. CSS shortens the text to the line. */
const MAX_EXCERPT = 300

const excerptOf = (body: string) => body.slice(0, MAX_EXCERPT)

/** A note in the list, with the actions that the person has the permission for. */
export const NoteItem = memo(function NoteItem({ note, current, edited, isOpen, href, onAsk }: Props) {
  const { t } = useLanguage()
  const shareButton = useRef<HTMLButtonElement>(null)
  const [isSharing, setSharing] = useState(false)
  const { title, body, can, mine } = note
  const isImpersonated = Boolean(useSession()?.session.impersonatedBy)
  const [, navigate] = useLocation()
  const open = () => {
    if (!isOpen) navigate(href)
  }
  const canShare = can.SHARE_NOTE && !isImpersonated

  const actions = !edited && (
    <RowActions>
      {can.EDIT_NOTE && (
        <EditAction
          onAct={() => {
            noteEdits.keep(note.id, { base: note, fields: note })
            open()
          }}
        />
      )}
      {canShare && (
        <RowAction
          ref={shareButton}
          Icon={ShareIcon}
          label={t('share')}
          isExpanded={isSharing && isOpen}
          keys={isSharing ? 'Escape' : undefined}
          onAct={() => {
            setSharing(!isSharing || !isOpen)
            open()
            // The form, which had the focus, disappears.
            shareButton.current?.focus()
          }}
        />
      )}
      {can.DELETE_NOTE && (
        <DeleteAction
          onAct={() => {
            onAsk({ note, action: 'delete' })
          }}
        />
      )}
      {!mine && !isImpersonated && (
        <RowAction
          isDanger
          Icon={LeaveIcon}
          label={t('leaveNote')}
          onAct={() => {
            onAsk({ note, action: 'leave' })
          }}
        />
      )}
    </RowActions>
  )
  return (
    <Row className={isOpen ? 'item note open' : 'item note'} isEdited={edited !== undefined}>
      <RowTitle as="h2">
        <Link href={href} aria-current={isOpen || undefined}>
          <bdi>{title}</bdi>
        </Link>
      </RowTitle>
      {!isOpen && actions}
      <div className="facts">
        <NoteMeta note={note} />
        {!isOpen && !edited && (
          <p className="muted excerpt" dir="auto">
            {excerptOf(body)}
          </p>
        )}
      </div>
      {(isOpen || edited !== undefined) && (
        <Detail title={title}>
          {!edited && (
            <p className="close">
              <CloseLink href={href} keys={isSharing ? undefined : 'Escape'} />
            </p>
          )}
          {actions}
          {edited ? (
            <EditNote base={edited} current={current} />
          ) : (
            <>
              {isSharing && canShare && (
                <Suspense fallback={<Loading />}>
                  <ShareNote note={note} />
                </Suspense>
              )}
              <p className="text" dir="auto">
                {body}
              </p>
            </>
          )}
        </Detail>
      )}
    </Row>
  )
})

/** Closes the note, and returns the focus to its title. */
function CloseLink({ href, keys }: { href: string; keys: string | undefined }) {
  const { t } = useLanguage()
  const titleId = useRowTitle()
  return (
    <Link
      href={href}
      aria-describedby={titleId}
      aria-keyshortcuts={keys}
      onClick={() => document.getElementById(titleId)?.querySelector('a')?.focus()}
    >
      {t('close')}
    </Link>
  )
}
