import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

import { BuildErrors } from './build-errors.tsx'
import { overviewQuery } from './client.ts'
import { Connection } from './connection.tsx'
import { Data } from './data/data.tsx'
import { Jobs } from './jobs/jobs.tsx'
import { Live } from './live/live.tsx'
import { addressOf, isView, isWide, type Place, usePlace, views } from './location.ts'
import { Outbox } from './outbox/outbox.tsx'
import { Palette } from './palette/palette.tsx'
import { Procedures } from './procedures/procedures.tsx'
import { useRecorder } from './requests/recording.ts'
import { Requests } from './requests/requests.tsx'
import { Shortcuts } from './palette/shortcuts.tsx'
import { Start } from './start.tsx'

/** The frame of all views: header with navigation, messages about the connection, and the view. */
export function Console() {
  const place = usePlace()
  const main = useFocusAfterChange(place)
  useRecorder()
  const { data: overview } = useQuery(overviewQuery)
  const name = overview?.name ?? ''
  const title = [place.item, views[place.view], 'Console', name].filter(Boolean).join(' – ')

  useEffect(() => {
    document.title = title
  }, [title])

  return (
    <>
      <header>
        <a
          className="skip"
          href="#content"
          onClick={(event) => {
            event.preventDefault()
            main.current?.focus()
          }}
        >
          Skip to the content
        </a>
        <div className="bar">
          <h1>
            <a href={addressOf('start')}>
              <span>{name}</span> <mark>Console</mark>
            </a>
          </h1>
          <nav aria-label="Views">
            <ul>
              {Object.keys(views)
                .filter(isView)
                .filter((view) => view !== 'jobs' || overview?.hasJobs)
                .map((view) => (
                  <li key={view}>
                    <a href={addressOf(view)} aria-current={view === place.view ? 'page' : undefined}>
                      {views[view]}
                    </a>
                  </li>
                ))}
            </ul>
          </nav>
          <Palette />
          <Shortcuts />
          {overview && (
            <p className="links">
              <a href={overview.origin} target="_blank" rel="noreferrer">
                Open the page
              </a>
              <a href={`${overview.origin}/docs`} target="_blank" rel="noreferrer">
                API reference
              </a>
            </p>
          )}
        </div>
        <Connection />
      </header>
      <main id="content" ref={main} tabIndex={-1}>
        <BuildErrors />
        <CurrentView place={place} />
      </main>
    </>
  )
}

function CurrentView({ place: { view, item, query } }: { place: Place }) {
  if (view === 'procedures') return <Procedures operation={item} />
  if (view === 'requests') return <Requests id={item} query={query} />
  if (view === 'live') return <Live item={item} />
  if (view === 'jobs') return <Jobs id={item} />
  if (view === 'outbox') return <Outbox />
  if (view === 'data') return <Data table={item} query={query} />
  return <Start />
}

/**
 * Moves the focus to the returned element after a change of the view. On narrow screens, also after a change of the item,
 * because the item then replaces the list. A new item begins at its top. Not in Requests, where the details have the focus.
 */
function useFocusAfterChange({ view, item }: Place) {
  const main = useRef<HTMLElement>(null)
  const previous = useRef({ view, item })
  useEffect(() => {
    const { view: lastView, item: lastItem } = previous.current
    previous.current = { view, item }
    if (view === lastView && (item === lastItem || view === 'requests')) return
    if (view !== lastView || !isWide()) main.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [view, item])
  return main
}
