import { infiniteQueryOptions, useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useId } from 'react'
import { inPages, List, Problem, useFocusOfList } from 'tallystick-dev/page'

import type { Outputs } from '../../../contract/client.ts'
import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { keepTag, refreshNotes } from './note.ts'
import { RoleSelect } from './role-select.tsx'

type Share = Outputs['notes']['shares']['shares'][number]

const PAGE_SIZE = 100

/** The key belongs to the notes, so that the page requests the shares again after each change of notes. */
const sharesQuery = (id: string) =>
  infiniteQueryOptions(
    orpc.notes.shares.infiniteOptions({
      ...inPages,
      input: (cursor) => ({ id, limit: PAGE_SIZE, cursor }),
    }),
  )

interface Props {
  noteId: string
  /** Receives the message about a finished change. */
  announce: (message: string) => void
}

/** The people with access to a note. The author can change each role, and end each access. */
export function ShareList({ noteId, announce }: Props) {
  const { t } = useLanguage()
  const titleId = useId()
  const query = useInfiniteQuery(sharesQuery(noteId))
  const shares = query.data?.pages.flatMap((page) => page.shares) ?? []
  return (
    <>
      <h3 id={titleId} tabIndex={-1}>
        {t('peopleWithAccess')}
      </h3>
      <List
        query={query}
        labelledBy={titleId}
        className=""
        empty={<p className="muted">{t('sharedWith', { count: 0 })}</p>}
      >
        {shares.map((share) => (
          <ShareItem key={share.email} share={share} noteId={noteId} titleId={titleId} announce={announce} />
        ))}
      </List>
    </>
  )
}

function ShareItem({ share, noteId, titleId, announce }: Props & { share: Share; titleId: string }) {
  const { t } = useLanguage()
  const emailId = useId()
  const item = useFocusOfList(titleId)
  const { email, role } = share
  const change = useMutation(
    orpc.notes.share.mutationOptions({
      onSuccess: async (note) => {
        keepTag(note)
        await refreshNotes()
        announce(t('roleChanged', { email }))
      },
    }),
  )
  const remove = useMutation(
    orpc.notes.unshare.mutationOptions({
      onSuccess: async (note) => {
        keepTag(note)
        await refreshNotes()
        announce(t('accessRemoved', { email }))
      },
    }),
  )
  return (
    <li ref={item} className="entry">
      <bdi id={emailId} className="grow">
        {email}
      </bdi>
      <RoleSelect
        label={t('roleOf', { email })}
        role={change.isPending ? change.variables.role : role}
        onRole={(next) => {
          change.mutate({ id: noteId, email, role: next })
        }}
      />
      <button
        type="button"
        className="danger"
        aria-describedby={emailId}
        aria-busy={remove.isPending}
        // A disabled button would lose the focus.
        onClick={() => {
          if (!remove.isPending) remove.mutate({ id: noteId, email })
        }}
      >
        {t('removeAccess')}
      </button>
      <Problem error={change.error ?? remove.error} />
    </li>
  )
}
