import * as z from 'zod'
import {
  administrativeErrors,
  appContract,
  ById,
  type ClientOf,
  creating,
  reading,
  resourceContract,
  RowId,
  sensitive,
  Success,
  text,
  topic,
  writing,
} from 'tallystick-contract'

// Projects with members, who are invited by address, and with tickets of all members.

const Titles = z.object({ titles: z.array(z.string()) })
const notFound = { NOT_FOUND: { status: 404, message: 'There is no such project' } }

export const ticketsTopic = topic('tickets', {
  access: 'signedIn',
  state: Titles,
  input: z.object({ titles: z.set(z.string()) }),
})

const Membership = ById.extend({ email: text({ min: 3, max: 254 }) })

const projects = {
  create: writing
    .meta({ updates: [] })
    .route({ method: 'POST', path: '/api/projects' })
    .input(z.object({ name: text({ min: 1, max: 100 }) }))
    .output(z.object({ id: z.int() })),
  invite: writing
    .meta({ updates: [ticketsTopic] })
    .errors(notFound)
    .route({ method: 'POST', path: '/api/projects/{id}/members' })
    .input(Membership)
    .output(Success),
  exclude: writing
    .meta({ updates: [ticketsTopic] })
    .errors(notFound)
    .route({ method: 'POST', path: '/api/projects/{id}/members/remove' })
    .input(Membership)
    .output(Success),
}

const tickets = resourceContract({
  topics: [ticketsTopic],
  procedures: {
    list: reading
      .meta({ reads: ticketsTopic })
      .route({ method: 'GET', path: '/api/tickets' })
      .input(z.object({ titles: z.set(z.string()).optional() }).optional())
      .output(Titles),
    create: creating([ticketsTopic])
      .errors(notFound)
      .route({ method: 'POST', path: '/api/tickets' })
      .input(z.object({ projectId: RowId, title: text({ min: 1, max: 100 }) }))
      .output(Success),
  },
})

// One list of entries, in a topic for each need of a caller.

const Entries = z.object({ entries: z.array(z.string()) })
const signedIn = { access: 'signedIn', state: Entries } as const

export const administratorsTopic = topic('administrators', signedIn)
export const inPersonTopic = topic('inPerson', signedIn)
export const writersTopic = topic('writers', signedIn)
/** A state that depends on the principal. */
export const principalsTopic = topic('principals', {
  access: 'signedIn',
  state: z.object({ seenBy: z.string() }),
})

const entries = resourceContract({
  topics: [administratorsTopic, inPersonTopic, writersTopic, principalsTopic],
  procedures: {
    /** Also for apps of an administrator. */
    forAdministrators: reading
      .meta({ reads: administratorsTopic, administratorsOnly: true })
      .errors(administrativeErrors)
      .route({ method: 'GET', path: '/api/entries/administrators' })
      .output(Entries),
    inPerson: sensitive
      .meta({ reads: inPersonTopic })
      .route({ method: 'GET', path: '/api/entries/in-person' })
      .output(Entries),
    forWriters: writing
      .meta({ reads: writersTopic, updates: [] })
      .route({ method: 'POST', path: '/api/entries/writers' })
      .output(Entries),
    forPrincipals: reading
      .meta({ reads: principalsTopic })
      .route({ method: 'GET', path: '/api/entries/principals' })
      .output(z.object({ seenBy: z.string() })),
    /** `outcome`: what happens after the announcement. */
    add: creating([administratorsTopic, inPersonTopic, writersTopic])
      .errors({ REFUSED: { status: 409, message: 'The entry is refused' } })
      .route({ method: 'POST', path: '/api/entries' })
      .input(
        z.object({
          text: text({ min: 1, max: 100 }),
          outcome: z.enum(['success', 'refusal', 'rollback', 'failure', 'nobody']).default('success'),
        }),
      )
      .output(Success),
  },
})

export const contract = appContract({ projects, tickets, entries })

export type Client = ClientOf<typeof contract>
