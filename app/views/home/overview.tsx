import { useQueries, useQuery } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { Loaded, RecentAccess } from 'tallystick-dev/page'
import { Link } from 'wouter'

import { orpc } from '../../api.ts'
import { type Message, useLanguage } from '../../language.ts'

/** Maximum number of items of a card. */
const SHOWN = 5

const openTasks = orpc.tasks.list.queryOptions({ input: { status: 'pending', limit: SHOWN } })
const firstNotes = orpc.notes.list.queryOptions({ input: { limit: 100 } })

/** Returns whether the first answers are missing. The cards appear together, so that no card moves another card. */
export const useIsLoading = () =>
  useQueries({
    queries: [openTasks, firstNotes, orpc.sessions.list.queryOptions(), orpc.apps.list.queryOptions()],
    combine: (results) => results.some(({ isPending }) => isPending),
  })

/** The open tasks of the person, the notes that other people share with the person, and the recent access to the account. */
export function Overview() {
  return (
    <>
      <OpenTasks />
      <SharedNotes />
      <Card title="recentAccess" path="/devices">
        <RecentAccess shown={SHOWN} />
      </Card>
    </>
  )
}

function OpenTasks() {
  const { t } = useLanguage()
  const query = useQuery(openTasks)
  return (
    <Card title="openTasks" path="/tasks" count={query.data?.taskCount}>
      <Loaded query={query}>
        {({ tasks }) => (
          <Items empty={t('nothingOpen')}>
            {tasks.map(({ id, title }) => (
              <li key={id}>
                <bdi>{title}</bdi>
              </li>
            ))}
          </Items>
        )}
      </Loaded>
    </Card>
  )
}

function SharedNotes() {
  const { t, formatAge } = useLanguage()
  const query = useQuery(firstNotes)
  return (
    <Card title="sharedWithYou" path="/notes">
      <Loaded query={query}>
        {({ notes }) => (
          <Items empty={t('nothingShared')}>
            {notes
              .filter(({ mine }) => !mine)
              .slice(0, SHOWN)
              .map(({ id, title, updatedAt }) => (
                <li key={id}>
                  <Link href={`/notes?note=${id}`}>
                    <bdi>{title}</bdi>
                  </Link>{' '}
                  <small>{formatAge(Date.parse(updatedAt) / 1000)}</small>
                </li>
              ))}
          </Items>
        )}
      </Loaded>
    </Card>
  )
}

interface CardProps {
  title: Message
  /** The view with all items. */
  path: '/tasks' | '/notes' | '/devices'
  count?: number | undefined
  children: ReactNode
}

function Card({ title, path, count, children }: CardProps) {
  const { t, formatNumber } = useLanguage()
  const titleId = useId()
  return (
    <section aria-labelledby={titleId}>
      <h2 id={titleId}>
        {t(title)} {count !== undefined && <small>{formatNumber(count)}</small>}
      </h2>
      {children}
      <p>
        <Link href={path} aria-describedby={titleId}>
          {t('showMore')}
        </Link>
      </p>
    </section>
  )
}

const Items = ({ empty, children }: { empty: string; children: ReactNode[] }) =>
  children.length === 0 ? <p className="muted">{empty}</p> : <ul className="short">{children}</ul>
