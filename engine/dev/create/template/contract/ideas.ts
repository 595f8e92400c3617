import {
  ById,
  changing,
  creating,
  exportPart,
  Page,
  reading,
  requestSchemas,
  resourceContract,
  responseSchemas,
  Search,
  Success,
  text,
  Timestamp,
  topic,
} from 'tallystick-contract'
import * as z from 'zod'

const example = { id: 7, title: 'An example', createdAt: 1767261600 }

const Idea = z
  .object({ id: z.int(), title: z.string(), createdAt: Timestamp })
  .register(responseSchemas, { id: 'Idea', example })
export type Idea = z.infer<typeof Idea>
const IdeaList = z
  .object({ ideas: z.array(Idea) })
  .register(responseSchemas, { id: 'IdeaList', example: { ideas: [example] } })
const CreateIdea = z
  .object({ title: text({ min: 1, max: 200 }) })
  .register(requestSchemas, { id: 'CreateIdea', example: { title: example.title } })

const NOT_FOUND = { status: 404, message: 'Idea not found' }

/** Clients watch the list with `live.watch`. */
export const ideasTopic = topic('ideas', { access: 'signedIn', state: IdeaList })

/** The part of the resource in the export of an account. */
export const ideasExport = exportPart({
  contents: ['ideas'],
  shape: { ideas: z.array(Idea) },
  example: { ideas: [example] },
})

export const ideas = resourceContract({
  topics: [ideasTopic],
  exports: ideasExport,
  procedures: {
    list: reading
      .meta({
        reads: ideasTopic,
        tool: {
          title: 'List ideas',
          description: 'Lists the ideas of the person, newest first.',
          effect: 'read',
        },
      })
      .route({ method: 'GET', path: '/api/ideas', summary: 'List your ideas, newest first' })
      .input(Page.extend(Search.shape).optional())
      .output(IdeaList),
    get: reading
      .meta({ etag: true })
      .errors({ NOT_FOUND })
      .route({ method: 'GET', path: '/api/ideas/{id}', summary: 'Get one of your ideas' })
      .input(ById)
      .output(Idea),
    create: creating([ideasTopic])
      .meta({ tool: { title: 'Add a new idea', description: 'Adds a new idea.', effect: 'create' } })
      .route({ method: 'POST', path: '/api/ideas', summary: 'Add a new idea' })
      .input(CreateIdea)
      .output(Idea),
    update: changing([ideasTopic])
      .meta({ etag: true })
      .errors({ NOT_FOUND })
      .route({ method: 'PATCH', path: '/api/ideas/{id}', summary: 'Change one of your ideas' })
      .input(ById.extend({ title: CreateIdea.shape.title.optional() }))
      .output(Idea),
    delete: changing([ideasTopic])
      .errors({ NOT_FOUND })
      .route({ method: 'DELETE', path: '/api/ideas/{id}', summary: 'Delete one of your ideas' })
      .input(ById)
      .output(Success),
  },
})
