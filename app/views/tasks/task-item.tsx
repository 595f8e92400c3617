import { useMutation } from '@tanstack/react-query'
import { memo, useEffect, useId, useRef } from 'react'
import { DeleteIcon, EditIcon, Problem, useFocusOfList, Waiting } from 'tallystick-dev/page'

import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { deletions } from './deletions.ts'
import { EditTask } from './edit-task.tsx'
import { isEqual, refreshTasks, scopeOf, type TaggedTask, type Task, taskEdits } from './task.ts'

interface Props {
  task: Task
  /** The version that the person is editing. */
  edited: TaggedTask | undefined
}

/** A task in the list. */
function Item({ task, edited }: Props) {
  const { t } = useLanguage()
  const titleId = useId()
  const item = useFocusOfList()
  const editButton = useRef<HTMLButtonElement>(null)
  const wasEdited = useRef(false)
  const { id } = task
  const scope = scopeOf(id)
  const edit = (base: TaggedTask) => {
    taskEdits.keep(id, { base, fields: base })
  }
  const update = useMutation(orpc.tasks.update.mutationOptions({ scope, onSettled: refreshTasks }))
  // Requests the current version, because a list has no entity tags. The scope lets changes of the task come first: the list
  // would otherwise show an older version, which looks like a change by another device.
  const open = useMutation({
    scope,
    mutationFn: () => orpc.tasks.get.call({ id }),
    onSuccess: edit,
  })
  const shown = update.isPending ? { ...task, ...update.variables } : task
  const { title, description, status } = shown

  useEffect(() => {
    if (wasEdited.current && !edited) editButton.current?.focus()
    wasEdited.current = edited !== undefined
  }, [edited])

  if (edited)
    return (
      <li ref={item}>
        <EditTask base={edited} current={shown} />
      </li>
    )
  return (
    <li ref={item} id={`task-${id}`} className={status === 'completed' ? 'task completed' : 'task'}>
      <input
        type="checkbox"
        aria-label={t('done')}
        aria-describedby={titleId}
        checked={status === 'completed'}
        onChange={({ target }) => {
          update.mutate({ id, status: target.checked ? 'completed' : 'pending' })
        }}
      />
      <div className="grow">
        <bdi id={titleId}>{title}</bdi>{' '}
        {status === 'in_progress' && <small className="badge">{t('statusInProgress')}</small>}{' '}
        <Waiting isPaused={update.isPaused} />
        {description && (
          <p className="text muted" dir="auto">
            {description}
          </p>
        )}
        <Problem error={update.error ?? open.error} />
      </div>
      <div className="row quiet">
        <button
          ref={editButton}
          className="secondary"
          title={t('edit')}
          aria-describedby={titleId}
          aria-busy={open.isPending}
          onClick={() => {
            if (navigator.onLine) open.mutate()
            else edit(shown)
          }}
        >
          <EditIcon />
          <span className="hidden">{t('edit')}</span>
        </button>
        <button
          className="danger"
          title={t('delete')}
          aria-describedby={titleId}
          onClick={() => {
            deletions.change(id)
          }}
        >
          <DeleteIcon />
          <span className="hidden">{t('delete')}</span>
        </button>
      </div>
    </li>
  )
}

/**
 * Renders again only if the content changes, because a list can have hundreds of tasks. A new task moves all other tasks to
 * other positions, and TanStack Query then creates new objects for them.
 */
export const TaskItem = memo(
  Item,
  (last, next) => last.edited === next.edited && isEqual(last.task, next.task),
)
