import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Field, Loaded, Problem, useFocusOfList } from 'tallystick-dev/page'

import { orpc, type Outputs } from '../api.ts'
import { useLanguage } from '../texts.ts'

/** The ideas of the person. Changes by other devices appear without a request of the person. */
export function Ideas() {
  const { t } = useLanguage()
  const query = useQuery(orpc.ideas.list.queryOptions())
  return (
    <section aria-labelledby="ideas-title">
      <h2 id="ideas-title">{t('ideas')}</h2>
      <NewIdea />
      <Loaded query={query}>
        {({ ideas }) =>
          ideas.length === 0 ? (
            <p className="muted">{t('noIdeas')}</p>
          ) : (
            <ul aria-labelledby="ideas-title">
              {ideas.map((idea) => (
                <IdeaItem key={idea.id} idea={idea} />
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
  const { t } = useLanguage()
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

function IdeaItem({ idea: { id, title } }: { idea: Idea }) {
  const { t } = useLanguage()
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
