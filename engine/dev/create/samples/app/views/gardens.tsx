import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { createTexts, EditForm, Field, Loaded, Problem, useFocusOfList, view } from 'tallystick-dev/page'

import { orpc, type Outputs } from '../api.ts'
import { GardenMembers } from './gardens-members.tsx'

/** The English texts, in ICU MessageFormat. For a further language: `createTexts((language) => …)`. */
const texts = createTexts({
  gardens: 'Gardens',
  gardenTitle: 'Title',
  addGarden: 'Add a new garden',
  noGardens: 'You have no gardens.',
  renameGarden: 'Rename',
  shareGarden: 'Share',
  leaveGarden: 'Leave',
  shareExplanation: 'The person sees the garden after signing in with this address.',
  memberAddress: 'E-mail',
  memberRole: 'Role',
  memberRoleOf: 'Role of {email}',
  roleEditor: 'May edit',
  roleViewer: 'May view',
  addMember: 'Give access',
  members: 'People with access',
  noMembers: 'Only you have access.',
  removeMember: 'Remove',
})

export const gardens = view({
  path: '/gardens',
  title: 'gardens',
  access: 'signedIn',
  topics: ['gardens'],
  texts,
  Content: Gardens,
})

/** The gardens of the person, and those that other people share. Changes by others appear without a request of the person. */
function Gardens() {
  const { t } = texts.useLanguage()
  const query = useQuery(orpc.gardens.list.queryOptions())
  return (
    <section aria-label={t('gardens')}>
      <NewGarden />
      <Loaded query={query}>
        {({ gardens }) =>
          gardens.length === 0 ? (
            <p className="muted">{t('noGardens')}</p>
          ) : (
            <ul aria-label={t('gardens')}>
              {gardens.map((garden) => (
                <GardenItem key={garden.id} {...garden} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

function useRefresh() {
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: orpc.gardens.key() })
}

function NewGarden() {
  const { t } = texts.useLanguage()
  const refresh = useRefresh()
  const [title, setTitle] = useState('')
  const add = useMutation(
    orpc.gardens.create.mutationOptions({
      onSuccess: () => {
        setTitle('')
        return refresh()
      },
    }),
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        add.mutate({ title })
      }}
    >
      <div className="row end">
        <Field label={t('gardenTitle')} dir="auto" required value={title} onValue={setTitle} />
        <button aria-busy={add.isPending} disabled={add.isPending}>
          {t('addGarden')}
        </button>
      </div>
      <Problem error={add.error} fields={{ title: { label: t('gardenTitle') } }} />
    </form>
  )
}

type Garden = Outputs['gardens']['list']['gardens'][number]

/** A garden with the actions that the person may do. */
function GardenItem({ id, title, mine, can }: Garden) {
  const { t } = texts.useLanguage()
  const titleId = useId()
  const item = useFocusOfList()
  const [open, setOpen] = useState<'rename' | 'share'>()
  const onSuccess = useRefresh()
  const remove = useMutation(orpc.gardens.delete.mutationOptions({ onSuccess }))
  const leave = useMutation(orpc.gardens.leave.mutationOptions({ onSuccess }))
  const toggle = (name: 'rename' | 'share', text: 'renameGarden' | 'shareGarden') => (
    <button
      className="secondary"
      aria-describedby={titleId}
      aria-expanded={open === name}
      onClick={() => {
        setOpen(open === name ? undefined : name)
      }}
    >
      {t(text)}
    </button>
  )
  const action = ({ isPending, mutate }: typeof remove | typeof leave, text: 'delete' | 'leaveGarden') => (
    <button
      className="secondary"
      aria-describedby={titleId}
      aria-busy={isPending}
      onClick={() => {
        mutate({ id })
      }}
    >
      {t(text)}
    </button>
  )
  return (
    <li ref={item}>
      <div className="entry">
        <bdi id={titleId} className="grow">
          {title}
        </bdi>
        {can.EDIT_GARDEN && toggle('rename', 'renameGarden')}
        {can.SHARE_GARDEN && toggle('share', 'shareGarden')}
        {can.DELETE_GARDEN && action(remove, 'delete')}
        {!mine && action(leave, 'leaveGarden')}
      </div>
      <Problem error={remove.error ?? leave.error} />
      {open === 'rename' && can.EDIT_GARDEN && (
        <RenameGarden
          id={id}
          before={title}
          onClose={() => {
            setOpen(undefined)
          }}
        />
      )}
      {open === 'share' && can.SHARE_GARDEN && <GardenMembers id={id} texts={texts} />}
    </li>
  )
}

function RenameGarden({ id, before, onClose }: { id: number; before: string; onClose: () => void }) {
  const { t } = texts.useLanguage()
  const refresh = useRefresh()
  const [title, setTitle] = useState(before)
  const rename = useMutation(
    orpc.gardens.update.mutationOptions({
      onSuccess: async () => {
        await refresh()
        onClose()
      },
    }),
  )
  const rules = { title: { label: t('gardenTitle') } }
  return (
    <EditForm
      action={t('save')}
      rules={rules}
      isPending={rename.isPending}
      isPaused={rename.isPaused}
      error={rename.error}
      onClose={onClose}
      onSubmit={() => {
        rename.mutate({ id, title })
      }}
    >
      <Field {...rules.title} dir="auto" required autoFocus value={title} onValue={setTitle} />
    </EditForm>
  )
}
