import type { Database } from './db/database.ts'
import type { Caller } from './caller.ts'
import type { Recipient } from './live-stream.ts'

type Person = Caller['user']

/**
 * How the guard authorizes the actions on the items of a resource, for example on books. `Id` is the type of `id` in the
 * inputs: the contract decodes an id before the functions receive the id, and rejects other ids with 400.
 */
export type Items<Id = never> = (Authorization<Id> | Partial<Record<keyof Authorization, never>>) & {
  /** How `If-Match` is compared with the entity tag of an item. */
  ifMatch?: CheckByStatement<Id> | CheckByLock<Id>
}

/** Needed if procedures of the resource have an action. */
export interface Authorization<Id = never> {
  /**
   * The authorization table: the actions that each relation permits. A caller of an action of `anyone` needs no relation to
   * an item. The guard uses the table for its checks, and procedures for the field `can` of responses.
   */
  permissions: Readonly<Record<string, readonly string[]>>
  /**
   * Finds the relations of a person to the item with an id. Undefined if the item does not exist for the person.
   */
  findRelation: (db: Database, person: Person, id: Id) => Promise<Relation | undefined>
}

/** The relations of a person to an item. */
export interface Relation {
  /** The relations in the authorization table. A permission of one of them is sufficient. */
  names: readonly string[]
  /** Whose states show the item: changes are announced to them. */
  recipients: readonly Recipient[]
}

/**
 * The statement of a change contains the owner and the accepted versions (`context.acceptedVersions`). If no row has
 * changed, the procedure throws 412. The guard checks nothing before the change, so the owner must be the only relation.
 * The entity tag is `versionTag` (engine/guard/conditions.ts).
 */
export interface CheckByStatement<Id = never> {
  by: 'statement'
  /** Returns the current entity tag. Undefined if the item does not exist for the person. */
  findTag: (db: Database, person: Person, id: Id) => Promise<string | undefined>
}

/**
 * A change can consist of several statements. The row stays locked from the comparison to the commit, so that no concurrent
 * change is lost.
 */
export interface CheckByLock<Id = never> {
  by: 'lock'
  /** Locks the item in a transaction, and returns its current entity tag. Undefined if the person may not change the item. */
  lockTag: (tx: Database, person: Person, id: Id) => Promise<string | undefined>
  /** Returns the current entity tag without a lock, for procedures whose statement compares the version. */
  findTag?: CheckByStatement<Id>['findTag']
}

/** What the guard reads of a resource. */
export interface GuardedResource {
  items?: Items
}
