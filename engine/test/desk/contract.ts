import * as z from 'zod'
import {
  appContract,
  type ClientOf,
  creating,
  exportPart,
  publicAccess,
  reading,
  resourceContract,
  RowId,
  Success,
  text,
  topic,
  writing,
} from 'tallystick-contract'

// Projects of a person with tickets: rows within rows, with filters, a search, totals and a public procedure.

const name = text({ min: 1, max: 100 })
const notFound = { NOT_FOUND: { status: 404, message: 'There is no such project or ticket' } }

const Project = z.object({ id: z.int(), name: z.string() })
const ProjectList = z.object({ projects: z.array(Project) })
export const projectsTopic = topic('projects', { access: 'signedIn', state: ProjectList })

const Ticket = z.object({
  id: z.int(),
  projectId: z.int(),
  title: z.string(),
  dueAt: z.string().nullable(),
})
const TicketList = z.object({ tickets: z.array(Ticket), total: z.int() })
export const ticketsTopic = topic('tickets', { access: 'signedIn', state: TicketList })

const InProject = z.object({ projectId: RowId })
const OneTicket = InProject.extend({ id: RowId })
const due = z.iso.date().nullish()

const changing = writing.meta({ updates: [ticketsTopic] }).errors(notFound)

const projectsExport = exportPart({
  contents: ['projects'],
  shape: { projects: z.array(Project) },
  example: { projects: [] },
})

const projects = resourceContract({
  topics: [projectsTopic],
  exports: projectsExport,
  procedures: {
    list: reading
      .meta({ reads: projectsTopic })
      .route({ method: 'GET', path: '/api/projects' })
      .output(ProjectList),
    create: creating([projectsTopic])
      .route({ method: 'POST', path: '/api/projects' })
      .input(z.object({ name }))
      .output(Project),
    /** Public: the names of all projects. */
    directory: publicAccess
      .route({ method: 'GET', path: '/api/directory' })
      .output(z.object({ names: z.array(z.string()), contact: z.string() })),
  },
})

const ticketsExport = exportPart({
  contents: ['tickets'],
  shape: { tickets: z.array(Ticket) },
  example: { tickets: [] },
})

const tickets = resourceContract({
  topics: [ticketsTopic],
  exports: ticketsExport,
  procedures: {
    list: reading
      .meta({ reads: ticketsTopic })
      .route({ method: 'GET', path: '/api/tickets' })
      .input(z.object({ projectId: RowId.optional(), q: z.string().max(100).optional() }).optional())
      .output(TicketList),
    create: creating([ticketsTopic])
      .errors(notFound)
      .route({ method: 'POST', path: '/api/tickets' })
      .input(InProject.extend({ title: name, dueAt: due }))
      .output(Ticket),
    update: changing
      .route({ method: 'PATCH', path: '/api/projects/{projectId}/tickets/{id}' })
      .input(OneTicket.extend({ title: name.optional(), dueAt: due }))
      .output(Ticket),
    move: changing
      .route({ method: 'POST', path: '/api/projects/{projectId}/tickets/{id}/move' })
      .input(OneTicket.extend({ to: RowId }))
      .output(Ticket),
    delete: changing
      .route({ method: 'DELETE', path: '/api/projects/{projectId}/tickets/{id}' })
      .input(OneTicket)
      .output(Success),
    /** The due dates, without texts. */
    dates: reading
      .route({ method: 'GET', path: '/api/tickets/dates' })
      .output(z.object({ dates: z.array(z.string()), open: z.int() })),
    /** The first tickets of all. */
    oldest: reading
      .route({ method: 'GET', path: '/api/tickets/oldest' })
      .output(z.object({ tickets: z.array(Ticket) })),
  },
})

export const contract = appContract({ projects, tickets })

export type Client = ClientOf<typeof contract>
