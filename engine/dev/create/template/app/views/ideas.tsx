import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import {
  Composer,
  createTexts,
  createUndoable,
  DeleteAction,
  Empty,
  inPages,
  List,
  Row,
  RowActions,
  RowTitle,
  view,
} from 'tallystick-dev/page'

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

const deletions = createUndoable<number>({
  message: 'ideasDeleted',
  send: (id) => orpc.ideas.delete.call({ id }, { context: { keepalive: true } }),
  elementOf: (id) => `idea-${id}`,
})

/** The ideas of the person. Changes by other devices appear without a request of the person. */
function Ideas() {
  const { t } = texts.useLanguage()
  const queryClient = useQueryClient()
  const query = useInfiniteQuery(
    orpc.ideas.list.infiniteOptions({ ...inPages, input: (cursor) => ({ limit: 100, cursor }) }),
  )
  const deleted = new Set(deletions.use())
  const items = query.data?.pages.flatMap(({ ideas }) => ideas).filter(({ id }) => !deleted.has(id)) ?? []
  const onSettled = () => queryClient.invalidateQueries({ queryKey: orpc.ideas.key() })
  return (
    <section aria-label={t('ideas')}>
      <Composer
        name="ideas"
        fields={{ title: { label: t('ideaTitle'), maxLength: 200 } }}
        action={t('addIdea')}
        mutation={orpc.ideas.create.mutationOptions({ onSettled })}
        toInput={({ title }) => ({ title })}
      />
      <List query={query} label={t('ideas')} empty={<Empty text={t('noIdeas')} />}>
        {items.map(({ id, title }) => (
          <Row key={id} id={`idea-${id}`}>
            <div className="grow">
              <RowTitle>{title}</RowTitle>
            </div>
            <RowActions>
              <DeleteAction
                onAct={() => {
                  deletions.change(id)
                }}
              />
            </RowActions>
          </Row>
        ))}
      </List>
    </section>
  )
}
