import { Choice, ConfirmButton, Search, Toolbar, useParameter, useSearch } from 'tallystick-dev/page'

import { orpc } from '../api.ts'
import { useLanguage } from '../language.ts'
import { NewTask } from './tasks/new-task.tsx'
import { findStatus, statuses, statusNames, taskRows } from './tasks/task.ts'
import { TaskList, useTasks } from './tasks/task-list.tsx'

/** The tasks of the person. Changes by other devices appear without a request of the person. */
export function Tasks() {
  const { t } = useLanguage()
  const [parameter, setStatus] = useParameter('status', { replace: true })
  const status = findStatus(parameter)
  const search = useSearch()
  const filter = { status, q: search.q }
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const { query, tasks, count } = useTasks(filter)
  return (
    <section aria-label={t('tasks')}>
      <NewTask
        onAdd={() => {
          // With another filter, the new task would not be visible.
          if (status !== 'pending') setStatus(undefined)
          search.setText('')
        }}
      />
      {(count !== 0 || isFiltered || search.text) && (
        <Toolbar>
          <Choice
            isCompact
            label={t('filter')}
            value={status ?? ''}
            options={[['', t('allTasks')], ...statuses.map((each) => [each, t(statusNames[each])] as const)]}
            onChoice={setStatus}
          />
          <Search {...search} />
          <p role="status" className="muted">
            {count !== undefined && t('taskCount', { count })}
          </p>
        </Toolbar>
      )}
      <TaskList query={query} tasks={tasks} filter={filter} />
      {Boolean(count) && !isFiltered && (
        <div className="quiet delete-all">
          <ConfirmButton
            action={t('deleteAllTasks')}
            onConfirm={async () => {
              await orpc.tasks.reset.call(undefined)
              await taskRows.refresh()
            }}
          >
            <p>
              <strong>{t('taskCount', { count: count ?? 0 })}</strong>
            </p>
            <p>{t('deleteAllTasksText')}</p>
          </ConfirmButton>
        </div>
      )}
    </section>
  )
}
