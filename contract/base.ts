import { oc } from '@orpc/contract'
import * as z from 'zod'

/** Actions that need a permission. The table of permissions is in src/guard/permissions.ts. */
export type Action = 'VIEW_NOTE' | 'CREATE_NOTE' | 'EDIT_NOTE' | 'SHARE_NOTE' | 'DELETE_NOTE' | 'EDIT_TASK'

/** Scopes that a person can grant to an app: reading the person's data, and changing the person's data. */
export const scopes = ['read', 'write'] as const
export type Scope = (typeof scopes)[number]

/**
 * Describes a procedure as a tool of AI agents (Model Context Protocol). The name of the tool is derived from the path
 * of the procedure, and the schemas from the schemas of the procedure.
 */
export interface Tool {
  title: string
  description: string
  /**
   * - `read`: changes nothing.
   * - `create`: every call adds or changes something.
   * - `overwrite`: replaces or removes data; repeating the call has no further effect.
   */
  effect: 'read' | 'create' | 'overwrite'
}

/** Resources with an entity tag (`ETag`). */
export type TaggedResource = 'task' | 'note'

/** What `live.watch` can watch. Each topic is the state that one operation reads. */
export type Topic = 'counter' | 'tasks' | 'notes' | 'sessions'

export type Access = 'public' | 'signedIn'

export interface Meta {
  /**
   * Who can call the procedure. A record contains the access of each topic: the call requires a caller if one of the
   * topics in its input does.
   */
  access?: Access | Readonly<Record<Topic, Access>>
  /** The topic with a new state after a call. Every procedure that changes data declares its topic, or `nothing`. */
  updates?: Topic | 'nothing'
  /** The topic of the state in the response. */
  reads?: Topic
  /**
   * The scope that an access token needs. A procedure without a scope rejects access tokens and requires a session
   * cookie.
   */
  scope?: Scope
  /**
   * Rejects calls during an impersonation with 403, because an administrator must not call the procedure as another
   * person.
   */
  noImpersonation?: true
  /** Rejects calls from pages of other origins with 403, also of TRUSTED_ORIGINS: a trusted page gets no lasting access. */
  ownPagesOnly?: true
  /** Rejects callers who are not administrators with 403. */
  administratorsOnly?: true
  /**
   * The permission that the caller needs for the resource with the id in the input (`id`). The response is 404 if the
   * resource does not exist, and 403 if the caller lacks the permission.
   */
  action?: Action
  /**
   * The form of notes (src/http/note-forms.ts) that the procedure handles. Set if two procedures, one for each form,
   * have the same method and path.
   */
  form?: 1 | 2
  /**
   * The rate limit of the procedure (src/rate-limits.ts). `steps` and `reservations` limit the calls from a network.
   * `writes`, `exports` and `grants` limit the calls of an account.
   */
  limit?: 'steps' | 'reservations' | 'writes' | 'exports' | 'grants'
  /** The response is created once and cached, because the response is the same for all calls while the process runs. */
  constant?: true
  /** Supports `Idempotency-Key`: a repeated call with the same key receives the stored response of the first call. */
  creates?: true
  /** Supports `If-Match` for this kind of resource: responds with 412 if the current entity tag does not match. */
  changes?: TaggedResource
  /** Responses have an `ETag`. */
  tagged?: true
  /**
   * Datastar pages receive server-sent events instead of JSON (src/http/datastar.ts). The value is an example of a
   * stream.
   */
  events?: string
  /**
   * Responses contain tokens, or data of people beside texts that any caller can choose. Such responses have
   * `Cache-Control: no-transform`, and are never compressed.
   */
  secrets?: true
  tool?: Tool
}

/** Returns the metadata of a procedure from oRPC's internal property `~orpc`. */
export const metaOf = (procedure: { '~orpc': { meta: Meta } }) => procedure['~orpc'].meta

const meta: Meta = { access: 'public' }

/** Builder of procedures for any caller. The service ignores the credentials of a call to such a procedure. */
export const publicAccess = oc.$meta(meta)

export const signedInErrors = {
  UNAUTHORIZED: { status: 401, message: 'Sign in first' },
  INSUFFICIENT_SCOPE: { status: 403, message: 'The token was not granted this' },
}

/** Builder of procedures for signed-in callers. */
export const signedIn = publicAccess.meta({ access: 'signedIn' }).errors(signedInErrors)

/**
 * Builder of procedures that only the owner of the account can call. Apps, and administrators during an impersonation,
 * receive 403.
 */
export const sensitive = signedIn.meta({ noImpersonation: true }).errors({
  FORBIDDEN: { status: 403, message: 'Not permitted during an impersonation' },
})

/** Builder of procedures that only an administrator in person can call. */
export const administrative = signedIn.meta({ noImpersonation: true, administratorsOnly: true }).errors({
  FORBIDDEN: { status: 403, message: 'Only administrators may do this, and not during an impersonation' },
})

/** Builder of procedures for signed-in callers and for apps with the scope `read`. */
export const reading = signedIn.meta({ scope: 'read' })
/** Builder of procedures for signed-in callers and for apps with the scope `write`. */
export const writing = signedIn.meta({ scope: 'write', limit: 'writes' })

export const IdempotencyKey = z.string().regex(/^[!-~]{1,255}$/, 'Must be 1 to 255 visible ASCII characters')

/** Errors of the headers `Idempotency-Key` and `If-Match`. */
export const headerErrors = {
  UNDER_WAY: {
    status: 409,
    message: 'A request with this Idempotency-Key is still being processed; try again later',
  },
  KEY_REUSED: { status: 422, message: 'This Idempotency-Key was already used for a different request' },
  PRECONDITION_FAILED: { status: 412, message: 'The current entity tag does not match If-Match' },
}
const { PRECONDITION_FAILED, ...idempotencyErrors } = headerErrors

/** Builder of procedures that create a resource. Supports `Idempotency-Key`, so that clients can retry. */
export const creating = (updates: NonNullable<Meta['updates']>) =>
  writing.meta({ creates: true, updates }).errors(idempotencyErrors)

/** Builder of procedures that change a resource. Supports `If-Match`, to detect concurrent changes. */
export const changing = (changes: TaggedResource) =>
  writing.meta({ changes, updates: `${changes}s` }).errors({ PRECONDITION_FAILED })

/** The schemas that the OpenAPI document publishes as components, each with its name and an example. */
export const responseSchemas = z.registry<{ id: string; example: z.core.$output }>()
export const requestSchemas = z.registry<{ id: string; example: z.core.$input }>()

// PostgreSQL stores neither NUL nor lone surrogates. JSON strings can contain both.
const unstorable = /[\0\p{Surrogate}]/u

/** Characters that show nothing: white space, ignorable and format characters, and the blank Braille pattern and filler. */
const invisible = '[\\s\\p{Default_Ignorable_Code_Point}\\p{Cf}\\u2800\\u3164]'
const blankStart = new RegExp(`^${invisible}+`, 'u')

/** Removes the characters that show nothing from the start of a text. A blank text becomes empty. */
export const trimInvisibleStart = (value: string) => value.replace(blankStart, '')

/** Returns whether a text contains only characters that show nothing. */
export const isBlank = (value: string) => trimInvisibleStart(value) === ''

interface TextBounds {
  min?: number
  max?: number
  schema?: z.ZodString
}

/**
 * Schema of a text that the database can store. `min` and `max` are numbers of code points, as in JSON Schema, and are
 * published as JSON Schema keywords. Counting code points is slow, so the schema counts only if `value.length` is not
 * sufficient: a code point has one or two UTF-16 code units.
 */
export const text = ({ min = 0, max = Infinity, schema = z.string() }: TextBounds = {}) =>
  schema
    .refine((value) => !unstorable.test(value), 'Contains a character that cannot be stored')
    .refine(
      (value) => value.length >= 2 * min || countCodePoints(value) >= min,
      `Must have at least ${min} character${min === 1 ? '' : 's'}`,
    )
    .refine(
      (value) => value.length <= max || (value.length <= 2 * max && countCodePoints(value) <= max),
      `Must have at most ${max} characters`,
    )
    .meta({ ...(min > 0 && { minLength: min }), ...(max < Infinity && { maxLength: max }) })

const countCodePoints = (value: string) => Array.from(value).length

/** Rejects leading zeros, so that every number has exactly one notation. */
const isDigits = (value: unknown) => typeof value === 'string' && /^(0|[1-9]\d*)$/.test(value)
/** Rejects numbers with an exponent in their decimal notation, such as 1e21. */
const isCount = (value: unknown) => typeof value === 'number' && isDigits(String(value))

/**
 * A non-negative integer. In URLs, the value is a string of decimal digits. Integers beyond the safe range become the
 * largest safe integer.
 */
const WholeNumber = z
  .custom<number>((value) => isDigits(value) || isCount(value), 'Must be a whole number')
  .transform((value: number | string) => Math.min(Number(value), Number.MAX_SAFE_INTEGER))
  .meta({ type: 'integer', minimum: 0 })

/** The id of a row. If no row has the id, the input is still valid, and the response is 404. */
export const RowId = WholeNumber.meta({ examples: [7] })

export const ById = z.object({ id: RowId })

/** Maximum and default number of rows in a page. */
export const MAX_LIMIT = 1000

const limitSchema = { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: MAX_LIMIT } as const

/** The query parameters that select a page of a list. */
export const Page = z.object({
  limit: WholeNumber.pipe(z.number().min(limitSchema.minimum).max(limitSchema.maximum))
    .meta({
      ...limitSchema,
      description: 'Maximum number of items. A page has fewer items if their texts exceed 1 MiB.',
      examples: [100],
    })
    .optional(),
  cursor: z
    .string()
    .regex(/^[\w-]{1,400}$/, 'Must be a cursor')
    .meta({
      description:
        'Position of the page: the cursor from `Link` or `nextCursor` of the previous response. The example is the position before the first item of every list.',
      examples: ['OTk5OTk5OTk5OTk5OS4x'],
    })
    .optional(),
})
export type Page = z.infer<typeof Page>

/** Maximum lengths of a note in both forms (src/http/note-forms.ts), in code points. */
export const noteBounds = { title: 120, body: 4000 }

/** Unix time in seconds. */
export const Timestamp = z.int()

export const Success = z
  .object({ success: z.boolean() })
  .register(responseSchemas, { id: 'Success', example: { success: true } })
