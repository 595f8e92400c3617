import {
  ById,
  creating,
  exportPart,
  Page,
  reading,
  requestSchemas,
  responseSchemas,
  Success,
  text,
  Timestamp,
  topic,
  writing,
} from 'tallystick-contract'
import * as z from 'zod'

const example = { id: 7, url: 'https://example.com/', title: 'An example', createdAt: 1767261600 }

const Bookmark = z
  .object({ id: z.int(), url: z.string(), title: z.string(), createdAt: Timestamp })
  .register(responseSchemas, { id: 'Bookmark', example })
const BookmarkList = z
  .object({ bookmarks: z.array(Bookmark) })
  .register(responseSchemas, { id: 'BookmarkList', example: { bookmarks: [example] } })
const CreateBookmark = z
  .object({
    url: text({ max: 2000 }).refine((value) => URL.canParse(value), 'Must be a URL'),
    title: text({ min: 1, max: 200 }),
  })
  .register(requestSchemas, { id: 'CreateBookmark', example: { url: example.url, title: example.title } })

/** Clients watch the list with `live.watch`. */
export const bookmarksTopic = topic('bookmarks', { access: 'signedIn', state: BookmarkList })

/** The part of the resource in the export of an account. */
export const bookmarksExport = exportPart({
  contents: ['bookmarks'],
  shape: { bookmarks: z.array(Bookmark) },
  example: { bookmarks: [example] },
})

export const bookmarks = {
  list: reading
    .meta({
      reads: bookmarksTopic,
      tool: {
        title: 'List bookmarks',
        description: 'Lists the bookmarks of the person, newest first.',
        effect: 'read',
      },
    })
    .route({ method: 'GET', path: '/api/bookmarks', summary: 'List your bookmarks, newest first' })
    .input(Page.optional())
    .output(BookmarkList),
  create: creating([bookmarksTopic])
    .meta({ tool: { title: 'Add a bookmark', description: 'Adds a bookmark.', effect: 'create' } })
    .route({ method: 'POST', path: '/api/bookmarks', summary: 'Add a bookmark' })
    .input(CreateBookmark)
    .output(Bookmark),
  delete: writing
    .meta({ updates: [bookmarksTopic] })
    .errors({ NOT_FOUND: { status: 404, message: 'Bookmark not found' } })
    .route({ method: 'DELETE', path: '/api/bookmarks/{id}', summary: 'Delete a bookmark' })
    .input(ById)
    .output(Success),
}
