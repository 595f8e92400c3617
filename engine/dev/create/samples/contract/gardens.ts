import {
  ById,
  changing,
  creating,
  exportPart,
  MAX_EMAIL,
  Page,
  reading,
  requestSchemas,
  resourceContract,
  responseSchemas,
  Search,
  sharing,
  Success,
  text,
  Timestamp,
  topic,
  writing,
} from 'tallystick-contract'
import * as z from 'zod'

const can = { EDIT_GARDEN: true, SHARE_GARDEN: true, DELETE_GARDEN: true }
const example = { id: 7, title: 'An example', mine: true, can, createdAt: 1767261600 }

const Garden = z
  .object({
    id: z.int(),
    title: z.string(),
    /** Whether the person is the owner. */
    mine: z.boolean(),
    /** What the person may do. */
    can: z.object({ EDIT_GARDEN: z.boolean(), SHARE_GARDEN: z.boolean(), DELETE_GARDEN: z.boolean() }),
    createdAt: Timestamp,
  })
  .register(responseSchemas, { id: 'Garden', example })
export type Garden = z.infer<typeof Garden>
const GardenList = z
  .object({ gardens: z.array(Garden) })
  .register(responseSchemas, { id: 'GardenList', example: { gardens: [example] } })
const CreateGarden = z
  .object({ title: text({ min: 1, max: 200 }) })
  .register(requestSchemas, { id: 'CreateGarden', example: { title: example.title } })

const Member = z.object({ email: z.email().max(MAX_EMAIL), role: z.enum(['editor', 'viewer']) })

const NOT_FOUND = { status: 404, message: 'Garden not found' }
const FORBIDDEN = { status: 403, message: 'Your role in the garden does not permit this' }

/** Clients watch the list with `live.watch`. */
export const gardensTopic = topic('gardens', { access: 'signedIn', state: GardenList })

/** The part of the resource in the export of an account. */
export const gardensExport = exportPart({
  contents: ['gardens'],
  shape: { gardens: z.array(Garden) },
  example: { gardens: [example] },
})

/** A change of the members. The audit trail names the change. */
const sharingGarden = (audit: 'gardens.invite' | 'gardens.exclude') =>
  sharing([gardensTopic]).meta({ action: 'SHARE_GARDEN', audit }).errors({ NOT_FOUND, FORBIDDEN })

export const gardens = resourceContract({
  topics: [gardensTopic],
  exports: gardensExport,
  procedures: {
    list: reading
      .meta({
        reads: gardensTopic,
        tool: {
          title: 'List gardens',
          description: 'Lists the gardens of the person, and those that other people share, newest first.',
          effect: 'read',
        },
      })
      .route({ method: 'GET', path: '/api/gardens', summary: 'List your gardens, newest first' })
      .input(Page.extend(Search.shape).optional())
      .output(GardenList),
    get: reading
      .meta({ etag: true })
      .errors({ NOT_FOUND })
      .route({ method: 'GET', path: '/api/gardens/{id}', summary: 'Get one of your gardens' })
      .input(ById)
      .output(Garden),
    create: creating([gardensTopic])
      .meta({ tool: { title: 'Add a new garden', description: 'Adds a new garden.', effect: 'create' } })
      .route({ method: 'POST', path: '/api/gardens', summary: 'Add a new garden' })
      .input(CreateGarden)
      .output(Garden),
    update: changing([gardensTopic])
      .meta({ action: 'EDIT_GARDEN', etag: true })
      .errors({ NOT_FOUND, FORBIDDEN })
      .route({ method: 'PATCH', path: '/api/gardens/{id}', summary: 'Change one of your gardens' })
      .input(ById.extend({ title: CreateGarden.shape.title.optional() }))
      .output(Garden),
    delete: changing([gardensTopic])
      .meta({ action: 'DELETE_GARDEN' })
      .errors({ NOT_FOUND, FORBIDDEN })
      .route({ method: 'DELETE', path: '/api/gardens/{id}', summary: 'Delete one of your gardens' })
      .input(ById)
      .output(Success),
    members: reading
      .meta({ action: 'SHARE_GARDEN' })
      .errors({ NOT_FOUND, FORBIDDEN })
      .route({ method: 'GET', path: '/api/gardens/{id}/members', summary: 'List the members of a garden' })
      .input(ById.extend(Page.shape))
      .output(z.object({ members: z.array(Member) })),
    invite: sharingGarden('gardens.invite')
      .route({
        method: 'POST',
        path: '/api/gardens/{id}/members',
        summary: 'Give a person a role in a garden',
      })
      .input(ById.extend(Member.shape))
      .output(Garden),
    exclude: sharingGarden('gardens.exclude')
      .route({
        method: 'POST',
        path: '/api/gardens/{id}/members/remove',
        summary: 'Remove a person from a garden',
      })
      .input(ById.extend({ email: Member.shape.email }))
      .output(Garden),
    leave: writing
      .meta({ updates: [gardensTopic] })
      .errors({ NOT_FOUND })
      .route({ method: 'POST', path: '/api/gardens/{id}/leave', summary: 'Leave a garden of another person' })
      .input(ById)
      .output(Success),
  },
})
