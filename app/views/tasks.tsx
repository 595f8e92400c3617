import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Confirm, Search, useParameter, useSearch } from 'tallystick-dev/page'

import { orpc } from '../api.ts'
import { useLanguage } from '../language.ts'
import { NewTask } from './tasks/new-task.tsx'
import { refreshTasks, statuses, statusNames } from './tasks/task.ts'
import { TaskList, useTasks } from './tasks/task-list.tsx'

/** The tasks of the person. Changes by other devices appear without a request of the person. */
export function Tasks() {
  const { t } = useLanguage()
  const [parameter, setStatus] = useParameter('status', { replace: true })
  const status = statuses.find((each) => each === parameter)
  const [isAsking, setAsking] = useState(false)
  const search = useSearch()
  const filter = { status, q: search.q }
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const { query, tasks, count } = useTasks(filter)
  const reset = useMutation(
    orpc.tasks.reset.mutationOptions({
      onSuccess: async () => {
        setAsking(false)
        await refreshTasks()
        // The button that opened the dialog is gone.
        document.getElementById('content')?.focus()
      },
    }),
  )
  return (
    <>
      <section aria-label={t('tasks')}>
        <NewTask
          onAdd={() => {
            // With another filter, the new task would not be visible.
            if (status !== 'pending') setStatus(undefined)
            search.setText('')
          }}
        />
        {(count !== 0 || isFiltered || search.text) && (
          <div className="row toolbar">
            <label>
              <span className="hidden">{t('filter')}</span>
              <select
                value={status ?? ''}
                onChange={({ target }) => {
                  setStatus(target.value)
                }}
              >
                <option value="">{t('allTasks')}</option>
                {statuses.map((each) => (
                  <option key={each} value={each}>
                    {t(statusNames[each])}
                  </option>
                ))}
              </select>
            </label>
            <Search {...search} />
            <p role="status" className="muted">
              {count !== undefined && t('taskCount', { count })}
            </p>
          </div>
        )}
        <TaskList query={query} tasks={tasks} filter={filter} />
        {Boolean(count) && !isFiltered && (
          <p className="quiet">
            <button
              className="danger"
              onClick={() => {
                setAsking(true)
              }}
            >
              {t('deleteAllTasks')}
            </button>
          </p>
        )}
      </section>
      {isAsking && (
        <Confirm
          title={t('deleteAllTasks')}
          action={t('deleteAllTasks')}
          isPending={reset.isPending}
          error={reset.error}
          onConfirm={() => {
            reset.mutate(undefined)
          }}
          onClose={() => {
            reset.reset()
            setAsking(false)
          }}
        >
          <p>
            <strong>{t('taskCount', { count: count ?? 0 })}</strong>
          </p>
          <p>{t('deleteAllTasksText')}</p>
        </Confirm>
      )}
    </>
  )
}
