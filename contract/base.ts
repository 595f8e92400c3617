import { oc } from '@orpc/contract'
import { z } from 'zod'

/** What a caller may want to do to one thing. Who may is decided by the one table in src/guard/index.ts. */
export type Action = 'VIEW_NOTE' | 'CREATE_NOTE' | 'EDIT_NOTE' | 'SHARE_NOTE' | 'DELETE_NOTE' | 'EDIT_TASK'

/** What a person can grant an app: to read what is theirs, or to change it too. */
export const scopes = ['read', 'write'] as const
export type Scope = (typeof scopes)[number]

/** A procedure as AI agents are told of it. Its name is its path, and what it takes and answers are its schemas. */
export interface Tool {
  title: string
  description: string
  /** Looks and changes nothing; adds each time; or overwrites or removes, and a second time changes nothing more. */
  effect: 'looks' | 'adds' | 'overwrites'
}

/** What has a state that `ETag` names. */
export type TaggedResource = 'task' | 'note'

export interface Meta {
  /** Who may call: anyone, or only somebody signed in. */
  access?: 'open' | 'signedIn'
  /** What a token must have been granted to call. Without one, no token can: only a person's own browser. */
  scope?: Scope
  /** For the person alone: no administrator who impersonates the person. */
  noImpersonation?: true
  /** What the caller must be allowed to do to the thing that `id` names: absent answers 404, forbidden 403. */
  action?: Action
  /** Set where both documents claim one method and path: which of the two notes forms this is. */
  form?: 1 | 2
  /** Counted, and refused beyond what src/guard/rate-limits.ts allows: steps and reservations by address, the others by person. */
  limit?: 'steps' | 'reservations' | 'writes' | 'exports'
  /** Answers the same to anybody for as long as the service runs, so that the answer need be made only once. */
  constant?: true
  /** Adds something each time; sent with an `Idempotency-Key`, once for each key of a person. */
  creates?: true
  /** Changes this only while it is in a state that `If-Match` names, where that is sent: 412 otherwise. */
  changes?: TaggedResource
  /** Its answers carry the state of what they show, as `ETag`. */
  tagged?: true
  /** Makes it a tool of AI agents. */
  tool?: Tool
}

/** What the contract declares of a procedure; oRPC's own types forget it. */
export const metaOf = (procedure: { '~orpc': { meta: Meta } }) => procedure['~orpc'].meta

const meta: Meta = { access: 'open' }

export const publicAccess = oc.$meta(meta)

export const signedIn = publicAccess.meta({ access: 'signedIn' }).errors({
  UNAUTHORIZED: { status: 401, message: 'Sign in first' },
  INSUFFICIENT_SCOPE: { status: 403, message: 'The token was not granted this' },
})

/** For the person alone, in the person's own browser: no app, and no administrator who impersonates the person. */
export const sensitive = signedIn.meta({ noImpersonation: true }).errors({
  FORBIDDEN: { status: 403, message: 'Only the person themselves may do this' },
})

/** For somebody signed in, or an app that may read for them; and one that may write. */
export const reading = signedIn.meta({ scope: 'read' })
export const writing = signedIn.meta({ scope: 'write', limit: 'writes' })

export const IdempotencyKey = z.string().regex(/^[!-~]{1,255}$/, 'Must be 1 to 255 visible ASCII characters')

export const headerErrors = {
  UNDER_WAY: { status: 409, message: 'The request with this Idempotency-Key is still under way' },
  KEY_REUSED: { status: 422, message: 'This Idempotency-Key was sent with another request' },
  PRECONDITION_FAILED: { status: 412, message: 'It is not in the state that If-Match names' },
}
const { PRECONDITION_FAILED, ...retries } = headerErrors

/** For one that adds something, and is safe to send again. */
export const creating = writing.meta({ creates: true }).errors(retries)

/** For one that changes what others may have changed meanwhile. */
export const changing = (changes: TaggedResource) => writing.meta({ changes }).errors({ PRECONDITION_FAILED })

/** The schemas that are published under a name of their own: those of answers, and those of requests. */
export const responseSchemas = z.registry<{ id: string }>()
export const requestSchemas = z.registry<{ id: string }>()

// PostgreSQL stores neither; both are possible in a JSON string.
const unstorable = /[\0\p{Surrogate}]/u

interface TextBounds {
  min?: number
  max?: number
  schema?: z.ZodString
}

/**
 * Text that the database can keep. Lengths are in code points, as JSON Schema's `maxLength` is: `length` says at most twice
 * as many, so that few texts are counted. `meta` publishes what the refinements check, in JSON Schema's own words.
 */
export const text = ({ min = 0, max = Infinity, schema = z.string() }: TextBounds = {}) =>
  schema
    .refine((value) => !unstorable.test(value), 'Contains a character that cannot be stored')
    .refine(
      (value) => value.length >= 2 * min || length(value) >= min,
      `Must have at least ${min} character${min === 1 ? '' : 's'}`,
    )
    .refine(
      (value) => value.length <= max || (value.length <= 2 * max && length(value) <= max),
      `Must have at most ${max} characters`,
    )
    .meta({ ...(min > 0 && { minLength: min }), ...(max < Infinity && { maxLength: max }) })

const length = (value: string) => Array.from(value).length

/** One spelling a number: `012` names nothing. */
const isDigits = (value: unknown) => typeof value === 'string' && /^(0|[1-9]\d*)$/.test(value)
const isCount = (value: unknown) => typeof value === 'number' && Number.isInteger(value) && value >= 0

/** A whole number: in a URL decimal digits without leading zeros. One past the safe integers is taken for the last of them. */
const WholeNumber = z
  .custom<number>((value) => isDigits(value) || isCount(value), 'Must be a whole number')
  .transform((value: number | string) => Math.min(Number(value), Number.MAX_SAFE_INTEGER))
  .meta({ type: 'integer', minimum: 0 })

/** A row's number. One past any row's is merely absent, not malformed. */
export const RowId = WholeNumber

export const ById = z.object({ id: RowId })

/** How many rows a list answers at most, and unless told otherwise. */
export const MAX_LIMIT = 1000

const limitSchema = { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: MAX_LIMIT } as const

/** The part of a list that is asked for. */
export const Page = z.object({
  limit: WholeNumber.pipe(z.number().min(limitSchema.minimum).max(limitSchema.maximum))
    .meta({ ...limitSchema, description: 'How many to answer at most; fewer where their texts exceed 1 MiB.' })
    .optional(),
  cursor: z
    .string()
    .regex(/^[\w-]{1,200}$/, 'Must be a cursor')
    .meta({ description: 'Where to go on: `Link` or `nextCursor` of the answer before holds it.' })
    .optional(),
})
export type Page = z.infer<typeof Page>

/** The bounds of a note, in both of its forms. */
export const noteBounds = { title: 120, body: 4000 }

/** Unix time in seconds. */
export const Timestamp = z.int()

export const Success = z.object({ success: z.boolean() }).register(responseSchemas, { id: 'Success' })
