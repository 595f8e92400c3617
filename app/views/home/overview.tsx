import { useMutation, useQueries, useQuery } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { Loaded, Problem, RecentAccess, Row, RowCheck, RowTitle, Waiting } from 'tallystick-dev/page'
import { Link } from 'wouter'

import { orpc } from '../../api.ts'
import { type Message, useLanguage } from '../../language.ts'
import { type Status, type Task, taskRows } from '../tasks/task.ts'

/** Maximum number of items of a card. */
const SHOWN = 5

const tasksWith = (status: Status) => orpc.tasks.list.queryOptions({ input: { status, limit: SHOWN } })
/** The tasks in progress come first. */
const openTasks = [tasksWith('in_progress'), tasksWith('pending')]
const firstNotes = orpc.notes.list.queryOptions({ input: { limit: 100 } })

/** Returns whether the first answers are missing. The cards appear together, so that no card moves another card. */
export const useIsLoading = () =>
  useQueries({
    queries: [...openTasks, firstNotes, orpc.sessions.list.queryOptions(), orpc.apps.list.queryOptions()],
    combine: (results) => results.some(({ isPending }) => isPending),
  })

/** The recent access to the account. */
export const RecentDevices = () => (
  <Card title="recentAccess" path="/devices">
    <RecentAccess shown={SHOWN} />
  </Card>
)

/** The open tasks of the person. */
export function OpenTasks() {
  const { t } = useLanguage()
  const queries = useQueries({ queries: openTasks })
  const count = sum(queries.map(({ data }) => data?.taskCount ?? 0))
  const tasks = queries.flatMap(({ data }) => data?.tasks ?? []).slice(0, SHOWN)
  const failed = queries.find(({ data, isError }) => isError && !data)
  return (
    <Card title="openTasks" path="/tasks" count={failed ? undefined : count} isComplete={count <= SHOWN}>
      {failed ? (
        <Problem error={failed.error} onRetry={() => void failed.refetch()} />
      ) : (
        <Items empty={t('nothingOpen')}>
          {tasks.map((task) => (
            <OpenTask key={task.id} {...task} />
          ))}
        </Items>
      )}
    </Card>
  )
}

function OpenTask({ id, title, status }: Task) {
  const { t } = useLanguage()
  const update = useMutation(
    orpc.tasks.update.mutationOptions({ scope: taskRows.scopeOf(id), onSettled: taskRows.refresh }),
  )
  return (
    <Row className="item task">
      <RowCheck
        label={t('done')}
        isChecked={update.isPending}
        onCheck={() => {
          if (!update.isPending) update.mutate({ id, status: 'completed' })
        }}
      />
      <div className="grow">
        <RowTitle>{title}</RowTitle>{' '}
        {status === 'in_progress' && <small className="badge">{t('statusInProgress')}</small>}{' '}
        <Waiting isPaused={update.isPaused} />
        <Problem error={update.error} />
      </div>
    </Row>
  )
}

/** The notes that other people share with the person. */
export function SharedNotes() {
  const { t, formatAge } = useLanguage()
  const query = useQuery(firstNotes)
  const shared = query.data?.notes.filter(({ mine }) => !mine) ?? []
  return (
    <Card title="sharedWithYou" path="/notes" isComplete={shared.length <= SHOWN}>
      <Loaded query={query}>
        {() => (
          <Items empty={t('nothingShared')}>
            {shared.slice(0, SHOWN).map(({ id, title, updatedAt }) => (
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

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)

interface CardProps {
  title: Message
  /** The view with all items. */
  path: '/tasks' | '/notes' | '/devices'
  count?: number | undefined
  /** Whether the card shows all items of the view. */
  isComplete?: boolean
  children: ReactNode
}

function Card({ title, path, count, isComplete = false, children }: CardProps) {
  const { t, formatNumber } = useLanguage()
  const titleId = useId()
  return (
    <section aria-labelledby={titleId}>
      <h2 id={titleId}>
        {t(title)} {count !== undefined && <small>{formatNumber(count)}</small>}
      </h2>
      {children}
      {!isComplete && (
        <p>
          <Link href={path} aria-describedby={titleId}>
            {t('showMore')}
          </Link>
        </p>
      )}
    </section>
  )
}

const Items = ({ empty, children }: { empty: string; children: ReactNode[] }) =>
  children.length === 0 ? <p className="muted">{empty}</p> : <ul className="short">{children}</ul>
