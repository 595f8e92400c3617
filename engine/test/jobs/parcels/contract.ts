import {
  appContract,
  changing,
  type ClientOf,
  creating,
  exportPart,
  Page,
  reading,
  resourceContract,
  RowId,
  text,
} from 'tallystick-contract'
import * as z from 'zod'

const Parcel = z.object({ id: z.int(), label: z.string() })
const label = text({ min: 1, max: 100 })

export const parcels = resourceContract({
  exports: exportPart({
    contents: ['parcels'],
    shape: { parcels: z.array(Parcel) },
    example: { parcels: [] },
  }),
  procedures: {
    list: reading
      .route({ method: 'GET', path: '/api/parcels' })
      .input(Page.optional())
      .output(z.object({ parcels: z.array(Parcel) })),
    create: creating([])
      .errors({ REFUSED: { status: 409, message: 'Refused' } })
      .route({ method: 'POST', path: '/api/parcels' })
      .input(z.object({ label, isRefused: z.boolean().default(false) }))
      .output(Parcel),
    update: changing([])
      .errors({ NOT_FOUND: { status: 404, message: 'There is no such parcel' } })
      .meta({ etag: true })
      .route({ method: 'PATCH', path: '/api/parcels/{id}' })
      .input(z.object({ id: RowId, label }))
      .output(Parcel),
  },
})

export const contract = appContract({ parcels })

export type Client = ClientOf<typeof contract>
