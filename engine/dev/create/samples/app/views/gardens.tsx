import { useInfiniteQuery } from '@tanstack/react-query'
import { createRows, createTexts, Items, pagesOf, useSearch, view } from 'tallystick-dev/page'

import { orpc } from '../api.ts'
import { garden } from './gardens-item.tsx'

/** The English texts, in ICU MessageFormat. For a further language: `createTexts((language) => …)`. */
const texts = createTexts({
  gardens: 'Gardens',
  gardenTitle: 'Title',
  addGarden: 'Add a new garden',
  noGardens: 'You have no gardens.',
  gardensDeleted: '{count, plural, one {Deleted.} other {# gardens deleted.}}',
})

/** The list, and the view of one garden. */
export const gardens = [
  view({
    path: '/gardens',
    title: 'gardens',
    access: 'signedIn',
    topics: ['gardens'],
    texts,
    Content: Gardens,
  }),
  garden,
]

const gardenRows = createRows({
  path: '/gardens',
  fields: ['title'],
  deleted: 'gardensDeleted',
  key: orpc.gardens.key(),
  get: (id: number) => orpc.gardens.get.call({ id }),
  create: ({ title }) => orpc.gardens.create.call({ title }),
  update: ({ title }, id, options) => orpc.gardens.update.call({ id, title }, options),
  delete: (id, options) => orpc.gardens.delete.call({ id }, options),
})

/** The gardens of the person, and those that other people share. Changes by others appear without a request of the person. */
function Gardens() {
  const { t } = texts.useLanguage()
  const search = useSearch()
  const query = useInfiniteQuery(orpc.gardens.list.infiniteOptions(pagesOf({ q: search.q })))
  return (
    <Items
      rows={gardenRows}
      query={query}
      items={gardenRows.use(query.data?.pages.flatMap(({ gardens }) => gardens))}
      fields={{ title: { label: t('gardenTitle'), maxLength: 200 } }}
      search={search}
      label={t('gardens')}
      add={t('addGarden')}
      onAdd={({ title }) => orpc.gardens.create.call({ title })}
      empty={t('noGardens')}
      can={({ can }) => ({ edit: can.EDIT_GARDEN, delete: can.DELETE_GARDEN })}
    />
  )
}
