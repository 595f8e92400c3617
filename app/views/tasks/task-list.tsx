import { useInfiniteQuery, useMutationState } from '@tanstack/react-query'
import { AddSamples, Empty, List, pagesOf, Waiting } from 'tallystick-dev/page'

import type { Inputs } from '../../../contract/client.ts'
import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { type Status, taskRows } from './task.ts'
import { TaskItem } from './task-item.tsx'

/** Which tasks the list shows. */
export interface Filter {
  status: Status | undefined
  q: string | undefined
}

/** Returns the tasks that match a filter, in pages, without the tasks that the person has deleted. */
export function useTasks(filter: Filter) {
  const query = useInfiniteQuery(orpc.tasks.list.infiniteOptions(pagesOf(filter)))
  const loaded = query.data?.pages.flatMap((page) => page.tasks) ?? []
  const deleted = new Set(taskRows.deletions.use())
  const total = query.data?.pages[0]?.taskCount
  const hidden = loaded.filter(({ id }) => deleted.has(id)).length
  return { query, tasks: taskRows.use(loaded), count: total && total - hidden }
}

/** Returns the new tasks that the service has not answered yet. */
const usePending = () =>
  useMutationState({
    filters: { mutationKey: orpc.tasks.create.mutationKey(), status: 'pending' },
    select: ({ state: { variables, isPaused } }) => ({
      title: (variables as Inputs['tasks']['create']).taskTitle,
      isPaused,
    }),
  }).reverse()

/** The tasks that match a filter. The newest first. */
export function TaskList({
  query,
  tasks,
  filter: { status, q },
}: Pick<ReturnType<typeof useTasks>, 'query' | 'tasks'> & { filter: Filter }) {
  const { t } = useLanguage()
  const pending = usePending()
  return (
    <List
      query={query}
      label={t('tasks')}
      empty={
        <Empty text={t(q ? 'nothingFound' : status ? 'noMatchingTasks' : 'noTasks')}>
          {!q && !status && <AddSamples />}
        </Empty>
      }
    >
      {pending.map(({ title, isPaused }, index) => (
        <li key={index} className="item task" aria-busy={!isPaused}>
          <bdi className="grow">{title}</bdi>
          <Waiting isPaused={isPaused} />
        </li>
      ))}
      {tasks.map((task) => (
        <TaskItem key={task.id} task={task} />
      ))}
    </List>
  )
}
