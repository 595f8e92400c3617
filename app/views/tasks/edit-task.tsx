import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { codeOf, Conflict } from 'tallystick-dev/page'

import { ORPCError } from '../../../contract/client.ts'
import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import {
  isEqual,
  refreshTasks,
  scopeOf,
  type TaggedTask,
  type Task,
  taskEdits,
  type TaskFields,
} from './task.ts'
import { TaskForm, TaskVersion } from './task-form.tsx'

interface Props {
  /** The version of the task when the person began to edit. */
  base: TaggedTask
  /** The task in the list, which changes while the person edits. */
  current: Task
}

interface Save {
  /** The version that the person has seen. */
  seen: TaskFields
  fields: TaskFields
}

/** Edits a task in its place in the list. A change by another device is not overwritten without a decision. */
export function EditTask({ base, current }: Props) {
  const { t } = useLanguage()
  const { id } = base
  const mine = taskEdits.use(id)?.fields ?? base
  const close = () => {
    taskEdits.forget(id)
  }
  /** The version that the service had when it refused to save. */
  const [found, setFound] = useState<Task>()
  const [isDeleted, setDeleted] = useState(false)
  const conflict = useRef<HTMLDivElement>(null)

  const newest = isEqual(current, base) ? found : current
  const theirs = newest && !isEqual(newest, mine) ? newest : undefined

  const save = useMutation({
    scope: scopeOf(id),
    /** Saves if the task still is the version that the person has seen. */
    mutationFn: async ({ seen, fields: { title, description, status } }: Save) => {
      if (isDeleted) return orpc.tasks.create.call({ taskTitle: title, taskDesc: description ?? '' })
      // Without an entity tag, the page shows the task of the list, which can be older than the task of the service.
      const version = seen === base && base.etag ? base : await orpc.tasks.get.call({ id })
      if (!isEqual(version, seen)) throw new ORPCError('PRECONDITION_FAILED')
      const headers = { 'if-match': version.etag ?? '*' }
      return orpc.tasks.update.call({ id, title, description, status }, { context: { headers } })
    },
    onSuccess: async (saved, { fields }) => {
      await refreshTasks()
      // The person has continued to write during the request.
      const written = taskEdits.get(id)?.fields
      if (written && written !== fields && saved.id === id)
        taskEdits.keep(id, { base: saved, fields: written })
      else close()
    },
    onError: async (error, { fields }) => {
      if (codeOf(error) !== 'PRECONDITION_FAILED' && codeOf(error) !== 'NOT_FOUND') return
      void refreshTasks()
      try {
        const task = await orpc.tasks.get.call({ id })
        if (isEqual(task, fields)) close()
        else setFound(task)
      } catch (cause) {
        setDeleted(codeOf(cause) === 'NOT_FOUND')
      }
    },
  })
  const isDecided = ['PRECONDITION_FAILED', 'NOT_FOUND'].includes(codeOf(save.error) ?? '')

  return (
    <TaskForm
      fields={mine}
      onChange={(fields) => {
        taskEdits.keep(id, { base, fields })
      }}
      onClose={close}
      action={t(isDeleted ? 'saveAsNewTask' : 'save')}
      isPending={save.isPending}
      isPaused={save.isPaused}
      error={isDecided ? undefined : save.error}
      onSubmit={() => {
        if (theirs && !isDeleted) conflict.current?.focus()
        else save.mutate({ seen: base, fields: mine })
      }}
    >
      {isDeleted ? (
        <p role="alert">{t('taskDeletedElsewhere')}</p>
      ) : (
        theirs && (
          <Conflict
            ref={conflict}
            message={t('taskChangedElsewhere')}
            mine={<TaskVersion fields={mine} />}
            theirs={<TaskVersion fields={theirs} />}
            isPending={save.isPending}
            onKeep={() => {
              save.mutate({ seen: theirs, fields: mine })
            }}
            onTake={close}
          />
        )
      )}
    </TaskForm>
  )
}
