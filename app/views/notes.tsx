import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AddSamples, Empty, List, Search, Toolbar, useSearch } from 'tallystick-dev/page'
import { useLocation, useSearchParams } from 'wouter'

import { useLanguage } from '../language.ts'
import { NewNote } from './notes/new-note.tsx'
import { noteEdits, notesQuery, refreshNotes } from './notes/note.ts'
import { ConfirmNote, type Question } from './notes/confirm-note.tsx'
import { NoteItem } from './notes/note-item.tsx'

/** The notes of the person, and the notes that other people share with the person. Changes by other people appear by themselves. */
export function Notes() {
  const { t, findErrorText } = useLanguage()
  const search = useSearch()
  const query = useInfiniteQuery(notesQuery(search.q))
  const edited = noteEdits.useAll().map(({ base }) => base)
  const [question, setQuestion] = useState<Question>()
  /** The note that the person has deleted or left. */
  const [gone, setGone] = useState<string>()
  const [parameters] = useSearchParams()
  const [, navigate] = useLocation()

  const listed = query.data?.pages.flatMap((page) => page.notes) ?? []
  const current = new Map(listed.map((note) => [note.id, note]))
  const openId = parameters.get('note')
  const open = current.get(openId ?? '')
  // A note stays while the person edits the note, also if the note was deleted or is no longer shared.
  const notes = [...edited.filter(({ id }) => !current.has(id)), ...listed]
  const isAbsent =
    openId !== null &&
    openId !== gone &&
    !notes.some(({ id }) => id === openId) &&
    query.isSuccess &&
    !query.hasNextPage &&
    !search.q
  /** Keeps the search. */
  const addressOf = (id: string | undefined) => {
    const next = new URLSearchParams({ ...(search.q && { q: search.q }), ...(id && { note: id }) })
    return `/notes?${next}`
  }
  return (
    <div className="detailed">
      {query.data?.pages[0]?.can.CREATE_NOTE !== false && <NewNote isHidden={edited.length > 0} />}
      <section aria-label={t('notes')}>
        {(notes.length > 0 || search.text) && (
          <Toolbar>
            <Search {...search} />
          </Toolbar>
        )}
        {isAbsent && <p role="alert">{findErrorText('NOT_FOUND')}</p>}
        <List
          query={query}
          label={t('notes')}
          className="items notes"
          empty={<Empty text={t(search.q ? 'nothingFound' : 'noNotes')}>{!search.q && <AddSamples />}</Empty>}
        >
          {notes.map((note) => (
            <NoteItem
              key={note.id}
              note={note}
              // With further pages, the list does not tell whether a missing note still exists.
              current={current.get(note.id) ?? (query.hasNextPage ? note : undefined)}
              edited={edited.find(({ id }) => id === note.id)}
              isOpen={note === open}
              href={addressOf(note === open ? undefined : note.id)}
              onAsk={setQuestion}
            />
          ))}
        </List>
      </section>
      {question && (
        <ConfirmNote
          {...question}
          onClose={() => {
            setQuestion(undefined)
          }}
          onGone={async () => {
            setQuestion(undefined)
            setGone(question.note.id)
            // The row still has the focus, and passes the focus on when the row disappears.
            await refreshNotes()
            if (new URLSearchParams(location.search).get('note') === question.note.id)
              navigate(addressOf(undefined), { replace: true })
          }}
        />
      )}
    </div>
  )
}
