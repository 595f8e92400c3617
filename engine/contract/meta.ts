import type { Route } from '@orpc/contract'
import type * as z from 'zod'

import type { DeclaredAction } from './audit-actions.ts'

/** Scopes that a person can grant to an app: reading the person's data, and changing the person's data. */
export const scopes = ['read', 'write'] as const
/** A scope: `const scope: Scope = 'read'`. */
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

export type Access = 'public' | 'signedIn'

/**
 * What `live.watch` can watch: the state that one operation reads (engine/contract/built-in/live.ts).
 *
 * @example
 * const changingShelf = (updates: readonly Topic[]) => changing(updates).errors(shelfErrors)
 */
export interface Topic {
  name: string
  access: Access
  /** The output of the operation. */
  state: z.ZodType
  /** The part of the input of the operation that watchers can choose, for example a filter. */
  input?: z.ZodType
  /**
   * The field of the input with the id of a parent, for example `projectId`: the state shows the rows of this parent. A
   * stream can then watch several parents.
   */
  of?: string
}

/**
 * A limit of calls. The calls of all procedures with the same limit are counted together.
 *
 * @example
 * const shareLimit: RateLimit = { name: 'shares', points: 100, duration: 3600, perAccount: true, inDatabase: true }
 */
export interface RateLimit {
  /** The name in the setting `LIMITS`, in headers and metrics. */
  name: string
  /** Number of requests allowed in one period. */
  points: number
  /** Length of the period, in seconds. */
  duration: number
  /**
   * Whether all instances share one count, which is stored in the database. Used for limits that protect accounts,
   * mail, tokens or expensive reads. By default, each process has its own count in memory.
   */
  inDatabase?: true
  /**
   * Whether calls are counted by account. By default, calls are counted by network: the IPv4 address, or the /64 of an
   * IPv6 address.
   */
  perAccount?: true
}

/**
 * Describes a procedure that answers only some of the requests with its method and path.
 *
 * @example
 * const firstForm: Alternative = { name: 'The first form', mediaType: 'application/json;version=1' }
 */
export interface Alternative {
  /** The name in the OpenAPI document, for example `The first form`. */
  name: string
  /** The media type of the bodies: `application/json` with a parameter. `Accept` or `Content-Type` selects it. */
  mediaType: `application/json;${string}`
  /** Describes the bodies that also select the alternative (`isRequestedBy` in engine/app/resource.ts). */
  bodies?: string
}

/** Maximum of `maxBytes` of a procedure: 16 MiB. */
export const MAX_BYTES = 16 * 1024 * 1024

/**
 * An action on an item of another resource.
 *
 * @example
 * const inProject = (name: string): ItemAction => ({ name, of: 'projects', id: 'projectId' })
 */
export interface ItemAction {
  name: string
  /** The resource with the item, and with the permissions of the action. By default, the resource of the procedure. */
  of?: string
  /** The field of the input with the id of the item. */
  id: string
}

export const actionsOf = ({ action = [] }: Pick<Meta, 'action'>): readonly ItemAction[] =>
  [action].flat().map((given) => (typeof given === 'string' ? { name: given, id: 'id' } : given))

/**
 * What a procedure declares in addition to its route, schemas and errors.
 *
 * @example
 * changing([loansTopic]).meta({ action: 'EDIT_LOAN', etag: true })
 */
export interface Meta {
  /** Who can call the procedure: engine/contract/builders.ts sets it. */
  access?: Access
  /** The topics that `topics` in the input can name. The call requires a caller only if one of the named topics does. */
  watches?: readonly Topic[]
  /**
   * The scope that an access token needs. A procedure that requires a caller and has no scope rejects access tokens, and
   * requires a session cookie. A public procedure ignores access tokens.
   */
  scope?: Scope
  /** Rejects calls during an impersonation with 403, because an administrator must not call the procedure as another person. */
  noImpersonation?: true
  /** Rejects calls from pages of other origins with 403, also of TRUSTED_ORIGINS: a trusted page gets no lasting access. */
  ownPagesOnly?: true
  /** Rejects callers who are not administrators with 403. */
  administratorsOnly?: true
  /**
   * What the caller needs a permission for (engine/call/items.ts): an action on the item with the id in the input (`id`), actions on
   * items of other resources, or several of them. The response is 404 if an item does not exist for the caller, and 403 if the
   * caller lacks a permission.
   */
  action?: string | ItemAction | readonly (string | ItemAction)[]
  rateLimit?: RateLimit
  /** Further limits. The procedure itself counts its calls, by a part of the input: see `consumeLimit` (engine/guard/access.ts). */
  inputLimits?: readonly RateLimit[]
  /**
   * Maximum size of a body in bytes, at most MAX_BYTES (16 MiB). By default 1 MiB, as for batches and tools of agents. A larger
   * maximum also permits more values: 10,000 for each MiB.
   */
  maxBytes?: number
  /** Supports `Idempotency-Key`: a repeated call with the same key receives the stored response of the first call. */
  idempotencyKey?: true
  /** Supports `If-Match`: responds with 412 if the current entity tag does not match. */
  ifMatch?: true
  /** Responses have an `ETag`. */
  etag?: true
  /** The call changes who has access to an item: set by `sharing` (./builders.ts). */
  grantsAccess?: true
  /**
   * The name under which the audit trail records accepted calls, for example `projects.invite`. The entry and the change are
   * committed together. The detail of the entry is the id in the input.
   */
  audit?: DeclaredAction
  /** The topics with a new state after a call. Every procedure that changes data declares its topics, or an empty list. */
  updates?: readonly Topic[]
  /** The topic with the state that the procedure returns. */
  reads?: Topic
  /** The first answer is kept and sent to every caller: the answer is the same while the process runs. */
  fixedAnswer?: true
  /**
   * Responses contain tokens, or data of people beside texts that any caller can choose. Such responses have
   * `Cache-Control: no-transform`, and are never compressed.
   */
  secrets?: true
  /** Set if another procedure, without this property, has the same method and path (engine/http/protocols/alternatives.ts). */
  alternative?: Alternative
  /**
   * For the OpenAPI document: an example of the server-sent events that Datastar pages receive. All other callers receive the
   * output as JSON. Set if the procedure answers such pages (engine/http/protocols/datastar.ts).
   */
  datastarExample?: string
  tool?: Tool
  /** The names of the resources with a part in the export that the procedure returns. */
  exports?: readonly string[]
}

export const limitsOf = ({ rateLimit, inputLimits = [] }: Meta) => [
  ...(rateLimit ? [rateLimit] : []),
  ...inputLimits,
]

/** Returns the metadata of a procedure from oRPC's internal property `~orpc`. */
export const metaOf = (procedure: { '~orpc': { meta: Meta } }) => procedure['~orpc'].meta

/**
 * Returns whether a procedure changes data: by its method, which is POST unless the route names another one. defineApp
 * refuses declarations that contradict the method (engine/start/define-app/mistakes/procedures.ts).
 */
export const isChange = ({ '~orpc': { route } }: { '~orpc': { route: Route } }) =>
  route.method !== 'GET' && route.method !== 'HEAD'
