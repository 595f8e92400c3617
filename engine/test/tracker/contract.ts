import * as z from 'zod'
import {
  appContract,
  ById,
  changing,
  type ClientOf,
  creating,
  exportPart,
  MAX_EMAIL,
  Page,
  reading,
  resourceContract,
  RowId,
  Search,
  sharing,
  Success,
  text,
  topic,
  writing,
} from 'tallystick-contract'

const errors = {
  NOT_FOUND: { status: 404, message: 'There is no such item' },
  FORBIDDEN: { status: 403, message: 'You may not do this' },
}
const { NOT_FOUND } = errors
const name = text({ min: 1, max: 100 })

const Project = z.object({
  id: z.int(),
  name: z.string(),
  mine: z.boolean(),
  can: z.object({
    VIEW_PROJECT: z.boolean(),
    EDIT_PROJECT: z.boolean(),
    CREATE_TICKET: z.boolean(),
    SHARE_PROJECT: z.boolean(),
  }),
})
export type Project = z.infer<typeof Project>
const ProjectList = z.object({ projects: z.array(Project), total: z.int() })
export const projectsTopic = topic('projects', { access: 'signedIn', state: ProjectList })

const Ticket = z.object({
  id: z.int(),
  projectId: z.int(),
  title: z.string(),
  status: z.enum(['open', 'closed']),
  dueAt: z.string().nullable(),
  priority: z.enum(['low', 'high']),
  labels: z.array(z.string()),
  places: z.array(z.tuple([z.number(), z.number()])).nullable(),
  effort: z.string().nullable(),
  reference: z.string(),
  can: z.object({ EDIT_TICKET: z.boolean() }),
})
export type Ticket = z.infer<typeof Ticket>
const TicketList = z.object({ tickets: z.array(Ticket), total: z.int() })
export const ticketsTopic = topic('tickets', { access: 'signedIn', state: TicketList })

const Comment = z.object({
  id: z.int(),
  text: z.string(),
  can: z.object({ EDIT_COMMENT: z.boolean(), DELETE_COMMENT: z.boolean() }),
})
export type Comment = z.infer<typeof Comment>
const CommentList = z.object({ comments: z.array(Comment) })

const Member = z.object({ email: z.email().max(MAX_EMAIL), role: z.enum(['agent', 'viewer', 'guest']) })
const sharingProject = (audit: 'projects.invite' | 'projects.exclude') =>
  sharing([projectsTopic]).meta({ action: 'SHARE_PROJECT', audit })

export const projects = resourceContract({
  topics: [projectsTopic],
  exports: exportPart({
    contents: ['projects'],
    shape: { projects: z.array(Project) },
    example: { projects: [] },
  }),
  procedures: {
    list: reading
      .meta({ reads: projectsTopic })
      .route({ method: 'GET', path: '/api/projects' })
      .input(Page.optional())
      .output(ProjectList),
    get: reading
      .meta({ etag: true })
      .errors({ NOT_FOUND })
      .route({ method: 'GET', path: '/api/projects/{id}' })
      .input(ById)
      .output(Project),
    create: creating([projectsTopic])
      .route({ method: 'POST', path: '/api/projects' })
      .input(z.object({ name }))
      .output(Project),
    update: changing([projectsTopic])
      .meta({ action: 'EDIT_PROJECT', etag: true })
      .errors(errors)
      .route({ method: 'PATCH', path: '/api/projects/{id}' })
      .input(ById.extend({ name: name.optional() }))
      .output(Project),
    delete: changing([projectsTopic])
      .meta({ action: 'SHARE_PROJECT' })
      .errors(errors)
      .route({ method: 'DELETE', path: '/api/projects/{id}' })
      .input(ById)
      .output(Success),
    members: reading
      .meta({ action: 'SHARE_PROJECT' })
      .errors(errors)
      .route({ method: 'GET', path: '/api/projects/{id}/members' })
      .input(ById.extend(Page.shape))
      .output(z.object({ members: z.array(Member.extend({ name: z.string() })) })),
    invite: sharingProject('projects.invite')
      .errors(errors)
      .route({ method: 'POST', path: '/api/projects/{id}/members' })
      .input(ById.extend(Member.shape))
      .output(Project),
    exclude: sharingProject('projects.exclude')
      .errors(errors)
      .route({ method: 'POST', path: '/api/projects/{id}/members/remove' })
      .input(ById.extend({ email: Member.shape.email }))
      .output(Project),
    leave: writing
      .meta({ updates: [projectsTopic] })
      .errors({ NOT_FOUND })
      .route({ method: 'POST', path: '/api/projects/{id}/leave' })
      .input(ById)
      .output(Success),
  },
})

const inProject = (action: string) => ({ name: action, of: 'projects', id: 'projectId' })

const TicketFields = z.object({
  title: name,
  dueAt: z.iso.date().nullable().optional(),
  priority: z.enum(['low', 'high']).optional(),
  labels: z.array(name).max(10).optional(),
  places: z
    .array(z.tuple([z.number(), z.number()]))
    .max(10)
    .nullable()
    .optional(),
  effort: z
    .string()
    .regex(/^\d{1,8}\.\d\d$/)
    .nullable()
    .optional(),
})

export const tickets = resourceContract({
  topics: [ticketsTopic],
  exports: exportPart({
    contents: ['tickets'],
    shape: { tickets: z.array(Ticket) },
    example: { tickets: [] },
  }),
  procedures: {
    list: reading
      .meta({ reads: ticketsTopic, action: inProject('VIEW_PROJECT') })
      .errors(errors)
      .route({ method: 'GET', path: '/api/tickets' })
      .input(
        Page.extend({
          ...Search.shape,
          projectId: RowId.optional(),
          status: Ticket.shape.status.optional(),
          priority: Ticket.shape.priority.optional(),
          order: z.enum(['newest', 'due']).optional(),
        }).optional(),
      )
      .output(TicketList),
    create: creating([ticketsTopic])
      .meta({ action: inProject('CREATE_TICKET') })
      .errors(errors)
      .route({ method: 'POST', path: '/api/tickets' })
      .input(TicketFields.extend({ projectId: RowId }))
      .output(Ticket),
    get: reading
      .meta({ etag: true })
      .errors({ NOT_FOUND })
      .route({ method: 'GET', path: '/api/tickets/{id}' })
      .input(ById)
      .output(Ticket),
    update: changing([ticketsTopic])
      .meta({ action: ['EDIT_TICKET', inProject('CREATE_TICKET')], etag: true })
      .errors(errors)
      .route({ method: 'PATCH', path: '/api/tickets/{id}' })
      .input(
        ById.extend({
          ...TicketFields.partial().shape,
          status: Ticket.shape.status.optional(),
          projectId: RowId.optional(),
        }),
      )
      .output(Ticket),
    delete: changing([ticketsTopic])
      .meta({ action: 'EDIT_TICKET' })
      .errors(errors)
      .route({ method: 'DELETE', path: '/api/tickets/{id}' })
      .input(ById)
      .output(Success),
    /** A procedure with a handler of its own. */
    close: writing
      .meta({ updates: [ticketsTopic], action: 'EDIT_TICKET' })
      .errors(errors)
      .route({ method: 'POST', path: '/api/tickets/{id}/close' })
      .input(ById)
      .output(Success),
  },
})

const onTicket = (action: string) => ({ name: action, of: 'tickets', id: 'ticketId' })

export const comments = resourceContract({
  exports: exportPart({
    contents: ['comments'],
    shape: { comments: z.array(Comment) },
    example: { comments: [] },
  }),
  procedures: {
    list: reading
      .meta({ action: onTicket('READ_TICKET') })
      .errors({ NOT_FOUND })
      .route({ method: 'GET', path: '/api/tickets/{ticketId}/comments' })
      .input(Page.extend({ ticketId: RowId }))
      .output(CommentList),
    create: creating([])
      .meta({ action: onTicket('READ_TICKET') })
      .errors({ NOT_FOUND })
      .route({ method: 'POST', path: '/api/tickets/{ticketId}/comments' })
      .input(z.object({ ticketId: RowId, text: name }))
      .output(Comment),
    update: writing
      .meta({ action: 'EDIT_COMMENT', updates: [] })
      .errors(errors)
      .route({ method: 'PATCH', path: '/api/comments/{id}' })
      .input(ById.extend({ text: name }))
      .output(Comment),
    delete: writing
      .meta({ action: 'DELETE_COMMENT', updates: [] })
      .errors(errors)
      .route({ method: 'DELETE', path: '/api/comments/{id}' })
      .input(ById)
      .output(Success),
  },
})

export const contract = appContract({ projects, tickets, comments })

export type Client = ClientOf<typeof contract>
