import {
  ById,
  creating,
  exportPart,
  Page,
  reading,
  requestSchemas,
  resourceContract,
  responseSchemas,
  Success,
  text,
  Timestamp,
  topic,
  writing,
} from 'tallystick-contract'
import * as z from 'zod'

const example = { id: 7, title: 'An example', createdAt: 1767261600 }

const Idea = z
  .object({ id: z.int(), title: z.string(), createdAt: Timestamp })
  .register(responseSchemas, { id: 'Idea', example })
const IdeaList = z
  .object({ ideas: z.array(Idea) })
  .register(responseSchemas, { id: 'IdeaList', example: { ideas: [example] } })
const CreateIdea = z
  .object({ title: text({ min: 1, max: 200 }) })
  .register(requestSchemas, { id: 'CreateIdea', example: { title: example.title } })

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
      .input(Page.optional())
      .output(IdeaList),
    create: creating([ideasTopic])
      .meta({ tool: { title: 'Add a new idea', description: 'Adds a new idea.', effect: 'create' } })
      .route({ method: 'POST', path: '/api/ideas', summary: 'Add a new idea' })
      .input(CreateIdea)
      .output(Idea),
    delete: writing
      .meta({ updates: [ideasTopic] })
      .errors({ NOT_FOUND: { status: 404, message: 'Idea not found' } })
      .route({ method: 'DELETE', path: '/api/ideas/{id}', summary: 'Delete one of your ideas' })
      .input(ById)
      .output(Success),
  },
})
