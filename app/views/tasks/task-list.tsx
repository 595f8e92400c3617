import { keepPreviousData, useInfiniteQuery, useMutationState } from '@tanstack/react-query'
import { Loaded, More } from 'tallystick/page'

import type { Inputs } from '../../../contract/client.ts'
import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { useDeletions } from './deletions.ts'
import { type Status, taskEdits } from './task.ts'
import { TaskItem } from './task-item.tsx'

const PAGE_SIZE = 100

/** Which tasks the list shows. */
export interface Filter {
  status: Status | undefined
  q: string | undefined
}

/** Returns the tasks that match a filter, in pages, without the tasks that the person has deleted. */
export function useTasks(filter: Filter) {
  const query = useInfiniteQuery(
    orpc.tasks.list.infiniteOptions({
      input: (cursor: string | undefined) => ({ limit: PAGE_SIZE, cursor, ...filter }),
      initialPageParam: undefined,
      getNextPageParam: ({ nextCursor }) => nextCursor,
      placeholderData: keepPreviousData,
    }),
  )
  const { pending, sent } = useDeletions()
  const deleted = new Set([...pending, ...sent])
  const loaded = query.data?.pages.flatMap((page) => page.tasks) ?? []
  const tasks = loaded.filter(({ id }) => !deleted.has(id))
  const total = query.data?.pages[0]?.taskCount
  return { query, tasks, count: total && total - (loaded.length - tasks.length) }
}

/** Returns the titles of the tasks that the page has sent, and that the service has not answered yet. */
const usePendingTitles = () =>
  useMutationState({
    filters: { mutationKey: orpc.tasks.create.mutationKey(), status: 'pending' },
    select: ({ state }) => (state.variables as Inputs['tasks']['create']).taskTitle,
  }).reverse()

/** The tasks that match a filter. The newest first. */
export function TaskList({
  query,
  tasks: listed,
  filter: { status, q },
}: Pick<ReturnType<typeof useTasks>, 'query' | 'tasks'> & { filter: Filter }) {
  const { t } = useLanguage()
  const pendingTitles = usePendingTitles()
  const edited = taskEdits.useAll().map(({ base }) => base)
  const ids = new Set(listed.map(({ id }) => id))
  // A task stays while the person edits the task, also if the task was deleted elsewhere or has another status.
  const tasks = [...edited.filter(({ id }) => !ids.has(id)), ...listed]

  return (
    <Loaded query={query}>
      {() =>
        tasks.length + pendingTitles.length === 0 && !query.hasNextPage ? (
          <p className="muted">{t(q ? 'nothingFound' : status ? 'noMatchingTasks' : 'noTasks')}</p>
        ) : (
          <>
            <ul aria-label={t('tasks')} className="tasks" aria-busy={query.isPlaceholderData}>
              {pendingTitles.map((title, index) => (
                <li key={index} className="task" aria-busy="true">
                  <bdi className="grow">{title}</bdi>
                </li>
              ))}
              {tasks.map((task) => (
                <TaskItem key={task.id} task={task} edited={edited.find(({ id }) => id === task.id)} />
              ))}
            </ul>
            <More query={query} />
          </>
        )
      }
    </Loaded>
  )
}
