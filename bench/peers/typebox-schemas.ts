import { Type } from '@fastify/type-provider-typebox'

import { MAX_ROWS } from './responses.ts'

// TypeBox schemas of the API, written in the usual style of Fastify applications.

export const Status = Type.Object({
  status: Type.Literal('ok'),
  service: Type.String(),
  release: Type.String(),
})

export const Reservation = Type.Object({ name: Type.String(), guests: Type.Number() })
export const Confirmation = Type.Object({ message: Type.String() })
export const ReservationErrors = Type.Object({
  message: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  guests: Type.Optional(Type.String()),
})

export const SignIn = Type.Object({ email: Type.String(), otp: Type.String() })

export const Counter = Type.Object({ count: Type.Integer() })

export const Task = Type.Object({
  id: Type.Integer(),
  userId: Type.String(),
  title: Type.String(),
  // `nullable` is faster than a union: for a union, fast-json-stringify validates each value to select the matching
  // schema.
  description: Type.Unsafe<string | null>({ type: 'string', nullable: true }),
  status: Type.String(),
  createdAt: Type.Integer(),
  updatedAt: Type.Integer(),
})
export const TaskList = Type.Object({ tasks: Type.Array(Task), taskCount: Type.Integer() })
const status = Type.Union([Type.Literal('pending'), Type.Literal('in_progress'), Type.Literal('completed')])
const limit = Type.Integer({ minimum: 1, maximum: MAX_ROWS, default: MAX_ROWS })
export const TaskQuery = Type.Object({ status: Type.Optional(status), limit })
export const NoteQuery = Type.Object({ limit })
export const NewTask = Type.Object({
  taskTitle: Type.String({ minLength: 1 }),
  taskDesc: Type.Optional(Type.String()),
})

const Note = Type.Object({
  id: Type.String(),
  title: Type.String(),
  body: Type.String(),
  mine: Type.Boolean(),
  sharedWith: Type.Integer(),
  updatedAt: Type.String(),
  can: Type.Object({
    VIEW_NOTE: Type.Boolean(),
    EDIT_NOTE: Type.Boolean(),
    SHARE_NOTE: Type.Boolean(),
    DELETE_NOTE: Type.Boolean(),
  }),
})
export const NoteList = Type.Object({
  notes: Type.Array(Note),
  can: Type.Object({ CREATE_NOTE: Type.Boolean() }),
})
