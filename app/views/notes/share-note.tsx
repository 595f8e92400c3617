import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { Members, pagesOf } from 'tallystick-dev/page'

import type { Outputs } from '../../../contract/client.ts'
import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { keepTag, type Note, refreshNotes } from './note.ts'

/** The key belongs to the notes, so that the page requests the shares again after each change of notes. */
const sharesQuery = (id: string) => infiniteQueryOptions(orpc.notes.shares.infiniteOptions(pagesOf({ id })))

async function showChange(note: Outputs['notes']['share']) {
  keepTag(note)
  await refreshNotes()
}

/** Shares a note with other people, one after the other, and shows the people with access. */
export function ShareNote({ note: { id } }: { note: Note }) {
  const { t } = useLanguage()
  const query = useInfiniteQuery(sharesQuery(id))
  return (
    <Members
      autoFocus
      heading="h3"
      query={query}
      members={query.data?.pages.flatMap(({ shares }) => shares)}
      roles={[
        ['reader', t('reader')],
        ['editor', t('editor')],
      ]}
      action={t('shareNote')}
      explanation={t('shareExplanation')}
      empty={t('sharedWith', { count: 0 })}
      onShare={async (member) => showChange(await orpc.notes.share.call({ id, ...member }))}
      onRemove={async (email) => showChange(await orpc.notes.unshare.call({ id, email }))}
    />
  )
}
