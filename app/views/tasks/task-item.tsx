import { useMutation } from '@tanstack/react-query'
import { memo } from 'react'
import {
  DeleteAction,
  EditAction,
  EditRow,
  Problem,
  Row,
  RowActions,
  RowCheck,
  RowTitle,
  useOpenForm,
  Waiting,
} from 'tallystick-dev/page'

import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { type Task, taskRows, useTaskFields } from './task.ts'

/** A task in the list. */
function Item({ task }: { task: Task }) {
  const { t } = useLanguage()
  const { id } = task
  const scope = taskRows.scopeOf(id)
  const edited = taskRows.edits.use(id)
  const fields = useTaskFields()
  const update = useMutation(orpc.tasks.update.mutationOptions({ scope, onSettled: taskRows.refresh }))
  const shown = update.isPending ? { ...task, ...update.variables } : task
  const { error, ...opening } = useOpenForm(taskRows, shown)
  const { title, description, status } = shown

  if (edited)
    return (
      <Row isEdited>
        <EditRow
          rows={taskRows}
          base={edited.base}
          current={shown}
          fields={fields}
          messages={{
            changed: t('taskChangedElsewhere'),
            deleted: t('taskDeletedElsewhere'),
            saveAsNew: t('saveAsNewTask'),
          }}
        />
      </Row>
    )
  return (
    <Row id={taskRows.elementOf(id)} className={status === 'completed' ? 'item task completed' : 'item task'}>
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
        <Problem error={update.error ?? error} />
      </div>
      <RowActions>
        <EditAction {...opening} />
        <DeleteAction
          onAct={() => {
            taskRows.deletions.change(id)
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
export const TaskItem = memo(Item, (last, next) => taskRows.isSame(last.task, next.task))
