// #can
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
// #end
// #cannot import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { keepLive } from 'tallystick-contract/query'
import { createRows, createTexts, Items, pagesOf, queryClient, useSearch, view } from 'tallystick-dev/page'

import { orpc, type Outputs } from '../api.ts'

/** The English texts, in ICU MessageFormat. For a further language: `createTexts((language) => …)`. */
const texts = createTexts({
  plants: 'Plants',
  plantTitle: 'Title',
  addPlant: 'Add a new plant',
  noPlants: 'The garden has no plants.',
  plantsDeleted: '{count, plural, one {Deleted.} other {# plants deleted.}}',
})

/** A part of the view of the garden, or a link in its row. */
export const plants = view({
  path: '/gardens/{gardenId}/plants',
  title: 'plants',
  access: 'signedIn',
  texts,
  Content: ({ gardenId }) => <Plants gardenId={Number(gardenId)} />,
})

const plantRows = createRows({
  path: '/plants',
  fields: ['title'],
  deleted: 'plantsDeleted',
  key: orpc.plants.key(),
  get: (id: number) => orpc.plants.get.call({ id }),
  create: ({ title }, { gardenId }: Outputs['plants']['get']) => orpc.plants.create.call({ gardenId, title }),
  update: ({ title }, id, options) => orpc.plants.update.call({ id, title }, options),
  delete: (id, options) => orpc.plants.delete.call({ id }, options),
})

/** The plants of one garden. Changes by others appear without a request of the person. */
function Plants({ gardenId }: { gardenId: number }) {
  const { t } = texts.useLanguage()
  const search = useSearch('plants')
  const query = useInfiniteQuery(orpc.plants.list.infiniteOptions(pagesOf({ gardenId, q: search.q })))
  const loaded = query.data?.pages.flatMap(({ plants }) => plants)
  // #can
  const garden = useQuery(orpc.gardens.get.queryOptions({ input: { id: gardenId } }))
  // #end
  useEffect(() => keepLive(queryClient, orpc, { topics: ['plants'], plants: { gardenId } }), [gardenId])
  return (
    <Items
      rows={plantRows}
      query={query}
      items={plantRows.use(loaded, (plant) => plant.gardenId === gardenId)}
      fields={{ title: { label: t('plantTitle'), maxLength: 200 } }}
      search={search}
      label={t('plants')}
      // #can
      add={garden.data?.can.EDIT_GARDEN !== false && t('addPlant')}
      // #end
      // #cannot add={t('addPlant')}
      onAdd={({ title }) => orpc.plants.create.call({ gardenId, title })}
      within={gardenId}
      empty={t('noPlants')}
      can={({ can }) => ({ edit: can.EDIT_PLANT, delete: can.EDIT_PLANT })}
    />
  )
}
