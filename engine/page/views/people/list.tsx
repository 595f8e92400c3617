import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { MAX_EMAIL } from 'tallystick-contract'

import { listUsers, peopleKey, type User } from '../../auth.ts'
import { Loaded } from '../../components/loaded.tsx'
import { useLanguage } from '../../language.tsx'
import { ActionDialog, type OpenAction } from './action.tsx'
import { PersonItem } from './person.tsx'

const PAGE_SIZE = 20

/** Time after the last key press before the search begins, in milliseconds. */
const SEARCH_DELAY = 300

export function PersonList({ onShowTrail }: { onShowTrail: (email: string) => void }) {
  const { t } = useLanguage()
  const [input, setInput] = useState('')
  const [{ search, offset }, setPage] = useState({ search: '', offset: 0 })
  const [open, setOpen] = useState<OpenAction>()
  const [message, setMessage] = useState('')

  useEffect(() => {
    const timer = setTimeout(() => {
      setPage((page) => (page.search === input ? page : { search: input, offset: 0 }))
    }, SEARCH_DELAY)
    return () => {
      clearTimeout(timer)
    }
  }, [input])

  // Not requested again when the window receives the focus, because the audit trail contains each request.
  const query = useQuery({
    queryKey: [...peopleKey, search, offset],
    queryFn: () => listUsers({ search, offset, limit: PAGE_SIZE }),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    gcTime: 0,
  })
  const turnTo = (next: number) => {
    setPage({ search, offset: next })
  }
  const showTrail = ({ email }: User) => {
    onShowTrail(email)
  }
  return (
    <section aria-labelledby="people-title">
      <h2 id="people-title">{t('people')}</h2>
      <label className="narrow">
        {t('searchPeople')}
        <input
          type="search"
          autoComplete="off"
          maxLength={MAX_EMAIL}
          value={input}
          onChange={({ target }) => {
            setInput(target.value)
          }}
        />
      </label>
      <p role="status" className="outcome">
        {message}
      </p>
      <Loaded query={query}>
        {({ users, total }) => (
          <>
            <p role="status" className="muted">
              {users.length === 0
                ? t('nobodyFound')
                : t('peopleShown', { from: offset + 1, to: offset + users.length, total })}
            </p>
            <ul aria-labelledby="people-title">
              {users.map((user) => (
                <PersonItem key={user.id} user={user} onAction={setOpen} onShowTrail={showTrail} />
              ))}
            </ul>
            {total > PAGE_SIZE && (
              <div className="row">
                <button
                  className="secondary"
                  disabled={offset === 0}
                  onClick={() => {
                    turnTo(offset - PAGE_SIZE)
                  }}
                >
                  {t('previousPage')}
                </button>
                <button
                  className="secondary"
                  disabled={offset + users.length >= total}
                  onClick={() => {
                    turnTo(offset + PAGE_SIZE)
                  }}
                >
                  {t('nextPage')}
                </button>
              </div>
            )}
          </>
        )}
      </Loaded>
      {open && (
        <ActionDialog
          {...open}
          onDone={setMessage}
          onClose={() => {
            setOpen(undefined)
          }}
        />
      )}
    </section>
  )
}
