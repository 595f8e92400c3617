import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createTexts, Field, Loaded, Problem, useFocusOfList, view } from 'tallystick-dev/page'

import { orpc, type Outputs } from '../api.ts'

/** The English texts, in ICU MessageFormat. For a further language: `createTexts((language) => …)`. */
const texts = createTexts({
  ideas: 'Ideas',
  ideaTitle: 'Title',
  addIdea: 'Add a new idea',
  noIdeas: 'You have no ideas.',
})

export const ideas = view({
  path: '/ideas',
  title: 'ideas',
  access: 'signedIn',
  topics: ['ideas'],
  texts,
  Content: Ideas,
})

/** The ideas of the person. Changes by other devices appear without a request of the person. */
function Ideas() {
  const { t } = texts.useLanguage()
  const query = useQuery(orpc.ideas.list.queryOptions())
  return (
    <section aria-label={t('ideas')}>
      <NewIdea />
      <Loaded query={query}>
        {({ ideas }) =>
          ideas.length === 0 ? (
            <p className="muted">{t('noIdeas')}</p>
          ) : (
            <ul aria-label={t('ideas')}>
              {ideas.map((idea) => (
                <IdeaItem key={idea.id} {...idea} />
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
  return () => queryClient.invalidateQueries({ queryKey: orpc.ideas.key() })
}

function NewIdea() {
  const { t } = texts.useLanguage()
  const refresh = useRefresh()
  const [title, setTitle] = useState('')
  const add = useMutation(
    orpc.ideas.create.mutationOptions({
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
        <Field label={t('ideaTitle')} dir="auto" required value={title} onValue={setTitle} />
        <button aria-busy={add.isPending} disabled={add.isPending}>
          {t('addIdea')}
        </button>
      </div>
      <Problem error={add.error} fields={{ title: { label: t('ideaTitle') } }} />
    </form>
  )
}

type Idea = Outputs['ideas']['list']['ideas'][number]

function IdeaItem({ id, title }: Idea) {
  const { t } = texts.useLanguage()
  const item = useFocusOfList()
  const remove = useMutation(orpc.ideas.delete.mutationOptions({ onSuccess: useRefresh() }))
  return (
    <li ref={item} className="entry">
      <div className="grow">
        <bdi id={`idea-${id}`}>{title}</bdi>
        <Problem error={remove.error} />
      </div>
      <button
        className="secondary"
        aria-describedby={`idea-${id}`}
        aria-busy={remove.isPending}
        onClick={() => {
          remove.mutate({ id })
        }}
      >
        {t('delete')}
      </button>
    </li>
  )
}
