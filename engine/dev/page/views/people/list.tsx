import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { useLocation } from 'wouter'

import { listUsers, peopleKey, type User } from '../../auth.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Search, useSearch } from '../../components/forms/search.tsx'
import { useLanguage } from '../../language.tsx'
import { ActionDialog, type OpenAction } from './action.tsx'
import { PersonRow } from './person.tsx'
import { trailHeading } from './trail.tsx'

const PAGE_SIZE = 20

export function PersonList() {
  const { t } = useLanguage()
  const [, navigate] = useLocation()
  const { q = '', ...field } = useSearch()
  const [page, setPage] = useState({ q, offset: 0 })
  const [open, setOpen] = useState<OpenAction>()
  const [message, setMessage] = useState('')
  // Another search begins with its first page.
  const offset = page.q === q ? page.offset : 0

  // Not requested again when the window receives the focus, because the audit trail contains each request.
  const query = useQuery({
    queryKey: [...peopleKey, q, offset],
    queryFn: () => listUsers({ search: q, offset, limit: PAGE_SIZE }),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    // No live update keeps the accounts current, so that the cache does not keep them.
    gcTime: 0,
  })
  const turnTo = (next: number) => {
    setPage({ q, offset: next })
  }
  const showTrail = ({ email }: User) => {
    flushSync(() => {
      navigate(`/people?${new URLSearchParams({ tab: 'trail', person: email })}`)
    })
    // The menu, which had the focus, has disappeared.
    document.getElementById(trailHeading)?.focus()
  }
  return (
    <section aria-labelledby="people-title">
      <div className="row head">
        <h2 id="people-title" className="hidden">
          {t('people')}
        </h2>
        <Search {...field} label={t('searchPeople')} />
      </div>
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
            {users.length > 0 && (
              <table className="people" aria-labelledby="people-title">
                <thead>
                  <tr>
                    <th scope="col">{t('person')}</th>
                    <th scope="col">{t('personRole')}</th>
                    <th scope="col">{t('memberSince')}</th>
                    <th scope="col">
                      <span className="hidden">{t('personActions')}</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {users.map((user) => (
                    <PersonRow key={user.id} user={user} onAction={setOpen} onShowTrail={showTrail} />
                  ))}
                </tbody>
              </table>
            )}
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
