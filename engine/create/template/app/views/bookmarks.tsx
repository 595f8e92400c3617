import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Field, Loaded, Problem, useFocusOfList } from 'tallystick/page'

import { orpc, type Outputs } from '../api.ts'
import { useLanguage } from '../texts.ts'

const useRefresh = () => {
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: orpc.bookmarks.key() })
}

/** The bookmarks of the person. Changes by other devices appear without a request of the person. */
export function Bookmarks() {
  const { t } = useLanguage()
  const query = useQuery(orpc.bookmarks.list.queryOptions())
  return (
    <section aria-labelledby="bookmarks-title">
      <h2 id="bookmarks-title">{t('bookmarks')}</h2>
      <NewBookmark />
      <Loaded query={query}>
        {({ bookmarks }) =>
          bookmarks.length === 0 ? (
            <p className="muted">{t('noBookmarks')}</p>
          ) : (
            <ul aria-labelledby="bookmarks-title">
              {bookmarks.map((bookmark) => (
                <BookmarkItem key={bookmark.id} bookmark={bookmark} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

function NewBookmark() {
  const { t } = useLanguage()
  const refresh = useRefresh()
  const [url, setUrl] = useState('')
  const [title, setTitle] = useState('')
  const add = useMutation(
    orpc.bookmarks.create.mutationOptions({
      onSuccess: async () => {
        setUrl('')
        setTitle('')
        await refresh()
      },
    }),
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        add.mutate({ url, title })
      }}
    >
      <div className="row end">
        <Field label={t('bookmarkUrl')} type="url" required value={url} onValue={setUrl} />
        <Field label={t('bookmarkTitle')} dir="auto" required value={title} onValue={setTitle} />
        <button aria-busy={add.isPending} disabled={add.isPending}>
          {t('addBookmark')}
        </button>
      </div>
      <Problem error={add.error} />
    </form>
  )
}

type Bookmark = Outputs['bookmarks']['list']['bookmarks'][number]

function BookmarkItem({ bookmark: { id, url, title } }: { bookmark: Bookmark }) {
  const { t } = useLanguage()
  const item = useFocusOfList()
  const remove = useMutation(orpc.bookmarks.delete.mutationOptions({ onSuccess: useRefresh() }))
  return (
    <li ref={item} className="entry">
      <div className="grow">
        <a href={url} rel="noreferrer">
          <bdi>{title}</bdi>
        </a>
        <Problem error={remove.error} />
      </div>
      <button
        className="secondary"
        aria-label={`${t('delete')}: ${title}`}
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
