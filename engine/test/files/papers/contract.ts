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
} from 'tallystick-contract'

const errors = {
  NOT_FOUND: { status: 404, message: 'There is no such paper' },
  FORBIDDEN: { status: 403, message: 'You may not do this' },
}
const title = text({ min: 1, max: 500 })
const ById = z.object({ id: z.string() })
const Paper = z.object({
  id: z.string(),
  title: z.string(),
  type: z.string().nullable(),
  size: z.int().nullable(),
})
const PaperList = z.object({ papers: z.array(Paper) })
export const papersTopic = topic('papers', { access: 'signedIn', state: PaperList })
const Reader = z.object({ email: z.email().max(MAX_EMAIL), role: z.enum(['reader', 'editor']) })

export const papers = resourceContract({
  topics: [papersTopic],
  exports: exportPart({
    contents: ['papers'],
    shape: { papers: z.array(Paper) },
    example: { papers: [] },
  }),
  procedures: {
    list: reading
      .meta({ reads: papersTopic })
      .route({ method: 'GET', path: '/api/papers' })
      .input(Page.optional())
      .output(PaperList),
    create: creating([papersTopic])
      .route({ method: 'POST', path: '/api/papers' })
      .input(z.object({ title }))
      .output(Paper),
    update: changing([papersTopic])
      .meta({ action: 'EDIT_PAPER', etag: true })
      .errors(errors)
      .route({ method: 'PATCH', path: '/api/papers/{id}' })
      .input(ById.extend({ title }))
      .output(Paper),
    delete: changing([papersTopic])
      .meta({ action: 'DELETE_PAPER', etag: true })
      .errors(errors)
      .route({ method: 'DELETE', path: '/api/papers/{id}' })
      .input(ById)
      .output(z.object({ success: z.boolean() })),
    share: changing([papersTopic])
      .meta({ action: 'DELETE_PAPER', etag: true })
      .errors(errors)
      .route({ method: 'POST', path: '/api/papers/{id}/readers' })
      .input(ById.extend(Reader.shape))
      .output(Paper),
    exclude: changing([papersTopic])
      .meta({ action: 'DELETE_PAPER', etag: true })
      .errors(errors)
      .route({ method: 'POST', path: '/api/papers/{id}/readers/remove' })
      .input(ById.extend({ email: Reader.shape.email }))
      .output(Paper),
  },
})

export const contract = appContract({ papers })

export type Client = ClientOf<typeof contract>
