import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { codeOf, orpc, type Outputs } from '../../api.ts'
import { Field } from '../../components/field.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Problem } from '../../components/problem.tsx'
import { useLanguage } from '../../language.tsx'

type Entry = Outputs['audit']['list']['entries'][number]

const PAGE_SIZE = 20

interface Props {
  /** Shows only the entries about this address. All entries if empty. Undefined until the person chooses a filter. */
  filter: string | undefined
  onFilter: (filter: string) => void
}

export function AuditTrail({ filter, onFilter }: Props) {
  const { t } = useLanguage()
  const heading = useRef<HTMLHeadingElement>(null)
  const [input, setInput] = useState(filter ?? '')
  // Not requested again when the window receives the focus, because each request adds an entry.
  const query = useInfiniteQuery({
    ...orpc.audit.list.infiniteOptions({
      input: (cursor: string | undefined) => ({ limit: PAGE_SIZE, cursor, person: filter || undefined }),
      initialPageParam: undefined,
      getNextPageParam: ({ nextCursor }) => nextCursor,
    }),
    refetchOnWindowFocus: false,
    gcTime: 0,
  })
  useEffect(() => {
    if (filter !== undefined) heading.current?.focus()
  }, [filter])
  const isUnknown = codeOf(query.error) === 'BAD_REQUEST'
  return (
    <section aria-labelledby="trail-title">
      <h2 id="trail-title" ref={heading} tabIndex={-1}>
        {t('trail')}
      </h2>
      <p className="muted">{t('trailExplanation')}</p>
      <form
        className="row end"
        onSubmit={(event) => {
          event.preventDefault()
          if (input === filter) void query.refetch()
          else onFilter(input)
        }}
      >
        <Field
          label={t('trailOf')}
          type="email"
          autoComplete="off"
          value={input}
          onValue={setInput}
          error={isUnknown ? t('nobodyFound') : undefined}
        />
        <button className="secondary">{t('showTrail')}</button>
      </form>
      {!isUnknown && (
        <Loaded query={query}>
          {({ pages }) => (
            <ol aria-labelledby="trail-title">
              {pages
                .flatMap(({ entries }) => entries)
                .map((entry) => (
                  <TrailEntry key={entry.id} entry={entry} />
                ))}
            </ol>
          )}
        </Loaded>
      )}
      {query.hasNextPage && (
        <button
          className="secondary"
          aria-busy={query.isFetchingNextPage}
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t('loadMore')}
        </button>
      )}
      {query.isFetchNextPageError && <Problem error={query.error} />}
    </section>
  )
}

function TrailEntry({ entry }: { entry: Entry }) {
  const { t, formatTime } = useLanguage()
  const nameOf = (party: Entry['actor']) => party && <bdi>{party.email ?? party.id}</bdi>
  const { actor, subject, ipAddress, userAgent, detail } = entry
  return (
    <li className="entry">
      <div className="grow">
        <p>
          <code>{entry.action}</code>{' '}
          {entry.outcome === 'refused' && <mark className="alarm">{t('refused')}</mark>}{' '}
          <span className="muted">{formatTime(entry.at)}</span>
        </p>
        <p>
          {nameOf(actor) ?? t('unknownPerson')}
          {subject && subject.id !== actor?.id && <> → {nameOf(subject)}</>}
        </p>
        {detail && <p className="text">{detail}</p>}
        <p className="muted text">{[ipAddress, userAgent].filter(Boolean).join(' · ')}</p>
      </div>
    </li>
  )
}
