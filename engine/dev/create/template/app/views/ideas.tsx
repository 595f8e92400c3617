import { useInfiniteQuery } from '@tanstack/react-query'
import { createRows, createTexts, Items, pagesOf, useSearch, view } from 'tallystick-dev/page'

import { orpc } from '../api.ts'

/** The English texts, in ICU MessageFormat. For a further language: `createTexts((language) => …)`. */
const texts = createTexts({
  ideas: 'Ideas',
  ideaTitle: 'Title',
  addIdea: 'Add a new idea',
  noIdeas: 'You have no ideas.',
  ideasDeleted: '{count, plural, one {Deleted.} other {# ideas deleted.}}',
})

export const ideas = view({
  path: '/ideas',
  title: 'ideas',
  access: 'signedIn',
  topics: ['ideas'],
  texts,
  Content: Ideas,
})

const ideaRows = createRows({
  path: '/ideas',
  fields: ['title'],
  deleted: 'ideasDeleted',
  key: orpc.ideas.key(),
  get: (id: number) => orpc.ideas.get.call({ id }),
  create: ({ title }) => orpc.ideas.create.call({ title }),
  update: ({ title }, id, options) => orpc.ideas.update.call({ id, title }, options),
  delete: (id, options) => orpc.ideas.delete.call({ id }, options),
})

/** The ideas of the person. Changes by other devices appear without a request of the person. */
function Ideas() {
  const { t } = texts.useLanguage()
  const search = useSearch()
  const query = useInfiniteQuery(orpc.ideas.list.infiniteOptions(pagesOf({ q: search.q })))
  return (
    <Items
      rows={ideaRows}
      query={query}
      items={ideaRows.use(query.data?.pages.flatMap(({ ideas }) => ideas))}
      fields={{ title: { label: t('ideaTitle'), maxLength: 200 } }}
      search={search}
      label={t('ideas')}
      add={t('addIdea')}
      onAdd={({ title }) => orpc.ideas.create.call({ title })}
      empty={t('noIdeas')}
    />
  )
}
