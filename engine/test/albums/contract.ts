import * as z from 'zod'
import {
  appContract,
  changing,
  type ClientOf,
  creating,
  exportPart,
  MAX_EMAIL,
  Page,
  reading,
  resourceContract,
  text,
  topic,
  writing,
} from 'tallystick-contract'

const errors = {
  NOT_FOUND: { status: 404, message: 'There is no such item' },
  FORBIDDEN: { status: 403, message: 'You may not do this' },
}
const title = text({ min: 1, max: 100 })
/** Any text, so that the statement receives texts that are no UUIDs. */
const ById = z.object({ id: z.string() })
const Removed = z.object({ id: z.string() })

const Album = z.object({ id: z.string(), title: z.string(), mine: z.boolean(), guestCount: z.int() })
const AlbumList = z.object({ albums: z.array(Album) })
export const albumsTopic = topic('albums', { access: 'signedIn', state: AlbumList })

const Photo = z.object({ id: z.string(), albumId: z.string(), title: z.string() })
const Guest = z.object({ email: z.email().max(MAX_EMAIL), role: z.enum(['reader', 'editor']) })
const sharing = changing([albumsTopic]).meta({ action: 'SHARE_ALBUM', etag: true }).errors(errors)

export const albums = resourceContract({
  topics: [albumsTopic],
  exports: exportPart({
    contents: ['albums'],
    shape: { albums: z.array(z.string()), albumCount: z.int() },
    example: { albums: [], albumCount: 0 },
  }),
  procedures: {
    list: reading
      .meta({ reads: albumsTopic })
      .route({ method: 'GET', path: '/api/albums' })
      .input(Page.optional())
      .output(AlbumList),
    create: creating([albumsTopic])
      .meta({ etag: true })
      .route({ method: 'POST', path: '/api/albums' })
      .input(z.object({ title }))
      .output(Album),
    update: changing([albumsTopic])
      .meta({ action: 'EDIT_ALBUM', etag: true })
      .errors(errors)
      .route({ method: 'PATCH', path: '/api/albums/{id}' })
      .input(ById.extend({ title }))
      .output(Album),
    delete: changing([albumsTopic])
      .meta({ action: 'SHARE_ALBUM' })
      .errors(errors)
      .route({ method: 'DELETE', path: '/api/albums/{id}' })
      .input(ById)
      .output(Removed),
    clear: writing
      .meta({ updates: [albumsTopic] })
      .route({ method: 'POST', path: '/api/albums/clear' })
      .output(z.object({ albums: z.array(Album) })),
    guests: reading
      .meta({ action: 'SHARE_ALBUM' })
      .errors(errors)
      .route({ method: 'GET', path: '/api/albums/{id}/guests' })
      .input(ById.extend(Page.shape))
      .output(z.object({ guests: z.array(Guest) })),
    invite: sharing
      .route({ method: 'POST', path: '/api/albums/{id}/guests' })
      .input(ById.extend(Guest.shape))
      .output(Album),
    exclude: sharing
      .route({ method: 'POST', path: '/api/albums/{id}/guests/remove' })
      .input(ById.extend({ email: Guest.shape.email }))
      .output(Album),
    leave: changing([albumsTopic])
      .meta({ action: 'LEAVE_ALBUM' })
      .errors(errors)
      .route({ method: 'POST', path: '/api/albums/{id}/leave' })
      .input(ById)
      .output(Removed),
  },
})

const inAlbum = (action: string) => ({ name: action, of: 'albums', id: 'albumId' })

export const photos = resourceContract({
  exports: exportPart({
    contents: ['photos'],
    shape: { photos: z.array(Photo) },
    example: { photos: [] },
  }),
  procedures: {
    list: reading
      .meta({ action: inAlbum('VIEW_ALBUM') })
      .errors(errors)
      .route({ method: 'GET', path: '/api/photos' })
      .input(Page.extend({ albumId: z.string() }))
      .output(z.object({ photos: z.array(Photo), total: z.int() })),
    create: creating([])
      .meta({ action: inAlbum('EDIT_ALBUM') })
      .errors(errors)
      .route({ method: 'POST', path: '/api/photos' })
      .input(z.object({ albumId: z.string(), title }))
      .output(Photo),
    get: reading
      .errors({ NOT_FOUND: errors.NOT_FOUND })
      .route({ method: 'GET', path: '/api/photos/{id}' })
      .input(ById)
      .output(Photo),
    move: writing
      .meta({ updates: [], action: ['EDIT_PHOTO', inAlbum('EDIT_ALBUM')] })
      .errors(errors)
      .route({ method: 'POST', path: '/api/photos/{id}/move' })
      .input(ById.extend({ albumId: z.string() }))
      .output(Photo),
  },
})

export const contract = appContract({ albums, photos })

export type Client = ClientOf<typeof contract>
