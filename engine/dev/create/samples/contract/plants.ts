import {
  ById,
  changing,
  creating,
  exportPart,
  Page,
  reading,
  resourceContract,
  responseSchemas,
  RowId,
  Search,
  Success,
  text,
  Timestamp,
  topic,
} from 'tallystick-contract'
import * as z from 'zod'

const can = { EDIT_PLANT: true }
const example = { id: 8, gardenId: 7, title: 'An example', can, createdAt: 1767261600 }

const Plant = z
  .object({
    id: z.int(),
    gardenId: z.int(),
    title: z.string(),
    /** What the person may do. */
    can: z.object({ EDIT_PLANT: z.boolean() }),
    createdAt: Timestamp,
  })
  .register(responseSchemas, { id: 'Plant', example })
export type Plant = z.infer<typeof Plant>
const PlantList = z
  .object({ plants: z.array(Plant) })
  .register(responseSchemas, { id: 'PlantList', example: { plants: [example] } })

const title = text({ min: 1, max: 200 })
const OfGarden = z.object({ gardenId: RowId })

const errors = {
  NOT_FOUND: { status: 404, message: 'Plant not found' },
  // #shared
  FORBIDDEN: { status: 403, message: 'Your role does not permit this' },
  // #end
}
const errorsOfGarden = { ...errors, NOT_FOUND: { status: 404, message: 'Garden not found' } }

/** The permissions of plants decide, by the relation to the garden. */
const inGarden = (name: string) => ({ name, id: 'gardenId' })

/** Clients watch the list of one or more gardens with `live.watch`. */
export const plantsTopic = topic('plants', {
  access: 'signedIn',
  state: PlantList,
  input: OfGarden,
  of: 'gardenId',
})

/** The part of the resource in the export of an account. */
export const plantsExport = exportPart({
  contents: ['plants'],
  shape: { plants: z.array(Plant) },
  example: { plants: [example] },
})

export const plants = resourceContract({
  topics: [plantsTopic],
  exports: plantsExport,
  procedures: {
    list: reading
      .meta({
        reads: plantsTopic,
        action: inGarden('LIST_PLANTS'),
        tool: {
          title: 'List plants',
          description: 'Lists the plants of a garden, newest first.',
          effect: 'read',
        },
      })
      .errors({ NOT_FOUND: errorsOfGarden.NOT_FOUND })
      .route({
        method: 'GET',
        path: '/api/gardens/{gardenId}/plants',
        summary: 'List the plants of a garden, newest first',
      })
      .input(Page.extend(Search.shape).extend(OfGarden.shape))
      .output(PlantList),
    get: reading
      .meta({ etag: true })
      .errors({ NOT_FOUND: errors.NOT_FOUND })
      .route({ method: 'GET', path: '/api/plants/{id}', summary: 'Get a plant' })
      .input(ById)
      .output(Plant),
    create: creating([plantsTopic])
      .meta({
        action: inGarden('CREATE_PLANT'),
        tool: { title: 'Add a new plant', description: 'Adds a new plant to a garden.', effect: 'create' },
      })
      .errors(errorsOfGarden)
      .route({
        method: 'POST',
        path: '/api/gardens/{gardenId}/plants',
        summary: 'Add a new plant to a garden',
      })
      .input(OfGarden.extend({ title }))
      .output(Plant),
    update: changing([plantsTopic])
      .meta({ action: 'EDIT_PLANT', etag: true })
      .errors(errors)
      .route({ method: 'PATCH', path: '/api/plants/{id}', summary: 'Change a plant' })
      .input(ById.extend({ title: title.optional() }))
      .output(Plant),
    delete: changing([plantsTopic])
      .meta({ action: 'EDIT_PLANT' })
      .errors(errors)
      .route({ method: 'DELETE', path: '/api/plants/{id}', summary: 'Delete a plant' })
      .input(ById)
      .output(Success),
  },
})
