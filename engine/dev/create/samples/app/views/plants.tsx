import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { keepLive } from 'tallystick-contract/query'
import {
  createTexts,
  EditForm,
  Field,
  Loaded,
  Problem,
  queryClient,
  useFocusOfList,
  view,
} from 'tallystick-dev/page'

import { orpc, type Outputs } from '../api.ts'
import { GardenChoice } from './plants-choice.tsx'

/** The English texts, in ICU MessageFormat. For a further language: `createTexts((language) => …)`. */
const texts = createTexts({
  plants: 'Plants',
  plantTitle: 'Title',
  addPlant: 'Add a new plant',
  noPlants: 'The garden has no plants.',
  renamePlant: 'Rename',
})

export const plants = view({
  path: '/plants',
  title: 'plants',
  access: 'signedIn',
  texts,
  Content: Plants,
})

/** The plants of one garden. */
function Plants() {
  const { t } = texts.useLanguage()
  const [gardenId, setGardenId] = useState<number>()
  return (
    <section aria-label={t('plants')}>
      <GardenChoice onChoice={setGardenId} />
      {gardenId !== undefined && <PlantList key={gardenId} gardenId={gardenId} />}
    </section>
  )
}

/** The list of one garden. Changes by others appear without a request of the person. */
function PlantList({ gardenId }: { gardenId: number }) {
  const { t } = texts.useLanguage()
  const query = useQuery(orpc.plants.list.queryOptions({ input: { gardenId } }))

  useEffect(() => keepLive(queryClient, orpc, { topics: ['plants'], plants: { gardenId } }), [gardenId])

  return (
    <>
      <NewPlant gardenId={gardenId} />
      <Loaded query={query}>
        {({ plants }) =>
          plants.length === 0 ? (
            <p className="muted">{t('noPlants')}</p>
          ) : (
            <ul aria-label={t('plants')}>
              {plants.map((plant) => (
                <PlantItem key={plant.id} {...plant} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  )
}

function useRefresh() {
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: orpc.plants.key() })
}

function NewPlant({ gardenId }: { gardenId: number }) {
  const { t } = texts.useLanguage()
  const refresh = useRefresh()
  const [title, setTitle] = useState('')
  const add = useMutation(
    orpc.plants.create.mutationOptions({
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
        add.mutate({ gardenId, title })
      }}
    >
      <div className="row end">
        <Field label={t('plantTitle')} dir="auto" required value={title} onValue={setTitle} />
        <button aria-busy={add.isPending} disabled={add.isPending}>
          {t('addPlant')}
        </button>
      </div>
      <Problem error={add.error} fields={{ title: { label: t('plantTitle') } }} />
    </form>
  )
}

type Plant = Outputs['plants']['list']['plants'][number]

/** A plant with the actions that the person may do. */
function PlantItem({ id, title, can }: Plant) {
  const { t } = texts.useLanguage()
  const titleId = useId()
  const item = useFocusOfList()
  const [isRenaming, setRenaming] = useState(false)
  const remove = useMutation(orpc.plants.delete.mutationOptions({ onSuccess: useRefresh() }))
  return (
    <li ref={item}>
      <div className="entry">
        <bdi id={titleId} className="grow">
          {title}
        </bdi>
        {can.EDIT_PLANT && (
          <>
            <button
              className="secondary"
              aria-describedby={titleId}
              aria-expanded={isRenaming}
              onClick={() => {
                setRenaming(!isRenaming)
              }}
            >
              {t('renamePlant')}
            </button>
            <button
              className="secondary"
              aria-describedby={titleId}
              aria-busy={remove.isPending}
              onClick={() => {
                remove.mutate({ id })
              }}
            >
              {t('delete')}
            </button>
          </>
        )}
      </div>
      <Problem error={remove.error} />
      {isRenaming && can.EDIT_PLANT && (
        <RenamePlant
          id={id}
          before={title}
          onClose={() => {
            setRenaming(false)
          }}
        />
      )}
    </li>
  )
}

function RenamePlant({ id, before, onClose }: { id: number; before: string; onClose: () => void }) {
  const { t } = texts.useLanguage()
  const refresh = useRefresh()
  const [title, setTitle] = useState(before)
  const rename = useMutation(
    orpc.plants.update.mutationOptions({
      onSuccess: async () => {
        await refresh()
        onClose()
      },
    }),
  )
  const rules = { title: { label: t('plantTitle') } }
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
