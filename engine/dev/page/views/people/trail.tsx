import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { auditActions, auditOutcomes } from 'tallystick-contract/internal'

import { orpc, type Outputs } from '../../api.ts'
import { codeOf } from '../../query-client.ts'
import { Choice } from '../../components/forms/choice.tsx'
import { nameOfDevice } from '../../components/session/device-name.ts'
import { Field } from '../../components/forms/field.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Problem } from '../../components/problem.tsx'
import { useLanguage } from '../../language.tsx'
import { useParameter } from '../../address.ts'

type Entry = Outputs['audit']['list']['entries'][number]

const PAGE_SIZE = 20

/** The id of the heading of the view. */
export const trailHeading = 'trail-title'

/** Returns the filters in the URL. Ignores values that the service would refuse. */
function useFilters() {
  const [person, setPerson] = useParameter('person')
  const [action, setAction] = useParameter('action')
  const [outcome, setOutcome] = useParameter('outcome')
  return {
    filters: {
      person,
      action: auditActions.find((known) => known === action),
      outcome: auditOutcomes.find((known) => known === outcome),
    },
    setPerson,
    setAction,
    setOutcome,
  }
}

/** The entries of the audit trail. The URL contains the filters, so that a reload and the Back button keep the filters. */
export function AuditTrail() {
  const { t } = useLanguage()
  const { filters, setPerson, setAction, setOutcome } = useFilters()
  // Not requested again when the window receives the focus, because each request adds an entry.
  const query = useInfiniteQuery({
    ...orpc.audit.list.infiniteOptions({
      input: (cursor: string | undefined) => ({ limit: PAGE_SIZE, cursor, ...filters }),
      initialPageParam: undefined,
      getNextPageParam: ({ nextCursor }) => nextCursor,
    }),
    refetchOnWindowFocus: false,
    // No live update keeps the entries current, so that the cache does not keep them.
    gcTime: 0,
  })
  const all = ['', t('all')] as const
  // The other filters are known values, so that a refusal concerns the e-mail address.
  const isUnknown = codeOf(query.error) === 'BAD_REQUEST'
  return (
    <section aria-labelledby={trailHeading}>
      <h2 id={trailHeading} tabIndex={-1}>
        {t('trail')}
      </h2>
      <p className="muted">{t('trailExplanation')}</p>
      <div className="row end filters">
        <PersonFilter
          person={filters.person ?? ''}
          error={isUnknown ? t('nobodyFound') : undefined}
          onPerson={(person) => {
            if (person === (filters.person ?? '')) void query.refetch()
            else setPerson(person)
          }}
        />
        <Choice
          label={t('trailAction')}
          value={filters.action ?? ''}
          options={[all, ...auditActions.map((action) => [action, action] as const)]}
          onChoice={setAction}
        />
        <Choice
          label={t('trailOutcome')}
          value={filters.outcome ?? ''}
          options={[all, ...auditOutcomes.map((outcome) => [outcome, t(outcome)] as const)]}
          onChoice={setOutcome}
        />
      </div>
      {!isUnknown && (
        <Loaded query={query}>
          {({ pages }) => {
            const entries = pages.flatMap((page) => page.entries)
            if (entries.length === 0) return <p role="status">{t('noEntries')}</p>
            return (
              <ol aria-labelledby={trailHeading}>
                {entries.map((entry) => (
                  <TrailEntry key={entry.id} entry={entry} />
                ))}
              </ol>
            )
          }}
        </Loaded>
      )}
      {query.hasNextPage && (
        <button
          className="secondary"
          aria-busy={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t('loadMore')}
        </button>
      )}
      {query.isFetchNextPageError && <Problem error={query.error} />}
    </section>
  )
}

interface PersonFilterProps {
  person: string
  onPerson: (person: string) => void
  error: string | undefined
}

function PersonFilter({ person, onPerson, error }: PersonFilterProps) {
  const { t } = useLanguage()
  const [input, setInput] = useState(person)
  const [last, setLast] = useState(person)
  // The URL has another filter, for example after the Back button.
  if (last !== person) {
    setLast(person)
    setInput(person)
  }
  return (
    <form
      className="row end"
      onSubmit={(event) => {
        event.preventDefault()
        onPerson(input)
      }}
    >
      <Field
        label={t('trailOf')}
        type="email"
        autoComplete="off"
        value={input}
        onValue={setInput}
        error={error}
      />
      <button className="secondary">{t('showTrail')}</button>
    </form>
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
          {entry.outcome === 'refused' && <mark className="alarm">{t('refused')}</mark>}
        </p>
        <p>
          {nameOf(actor) ?? t('unknownPerson')}
          {subject && subject.id !== actor?.id && <> → {nameOf(subject)}</>}
        </p>
        {detail && <p className="text">{detail}</p>}
        <p className="muted text">
          <bdi>{ipAddress}</bdi>
          {ipAddress && userAgent && ' · '}
          {userAgent && <bdi title={userAgent}>{nameOfDevice(entry) ?? userAgent}</bdi>}
        </p>
      </div>
      <p className="muted">{formatTime(entry.at)}</p>
    </li>
  )
}
