import { useMutation } from '@tanstack/react-query'
import { memo } from 'react'
import {
  DeleteAction,
  EditAction,
  Problem,
  Row,
  RowActions,
  RowCheck,
  RowTitle,
  Waiting,
} from 'tallystick-dev/page'

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

  if (edited)
    return (
      <Row isEdited>
        <EditTask base={edited} current={shown} />
      </Row>
    )
  return (
    <Row id={`task-${id}`} className={status === 'completed' ? 'item task completed' : 'item task'}>
      <RowCheck
        label={t('done')}
        isChecked={status === 'completed'}
        onCheck={(isDone) => {
          update.mutate({ id, status: isDone ? 'completed' : 'pending' })
        }}
      />
      <div className="grow">
        <RowTitle>{title}</RowTitle>{' '}
        {status === 'in_progress' && <small className="badge">{t('statusInProgress')}</small>}{' '}
        <Waiting isPaused={update.isPaused} />
        {description && (
          <p className="text muted" dir="auto">
            {description}
          </p>
        )}
        <Problem error={update.error ?? open.error} />
      </div>
      <RowActions>
        <EditAction
          isPending={open.isPending}
          onAct={() => {
            if (navigator.onLine) open.mutate()
            else edit(shown)
          }}
        />
        <DeleteAction
          onAct={() => {
            deletions.change(id)
          }}
        />
      </RowActions>
    </Row>
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
