import type { Database } from './db/database.ts'
import type { Caller } from './caller.ts'

type Person = Caller['user']

/** How the guard authorizes the actions on the items of a resource, for example on books. */
export type Items = (Authorization | Partial<Record<keyof Authorization, never>>) & {
  /**
   * Returns false for an id that input validation rejects (400), so that the guard does not look for an item. By default,
   * an id that the contract does not accept is the id of no item (404).
   */
  isId?: (id: unknown) => boolean
  /** How `If-Match` is compared with the entity tag of an item. */
  ifMatch?: CheckByStatement | CheckByLock
}

/** Needed if procedures of the resource have an action. */
export interface Authorization {
  /**
   * The authorization table: the actions that each relation permits. A caller of an action of `anyone` needs no relation to
   * an item. The guard uses the table for its checks, and procedures for the field `can` of responses.
   */
  permissions: Readonly<Record<string, readonly string[]>>
  /**
   * Finds the relation of a person to the item with an id, which the contract has decoded. Undefined if the item does not
   * exist for the person.
   */
  findRelation: (db: Database, person: Person, id: unknown) => Promise<Relation | undefined>
}

/** The relation of a person to an item, and the account that owns the item. */
export interface Relation {
  name: string
  owner: string
}

/**
 * The statement of a change contains the owner and the accepted versions (`context.acceptedVersions`). If no row has
 * changed, the procedure throws 412. The guard checks nothing before the change, so the owner must be the only relation.
 * The entity tag is `versionTag` (engine/guard/conditions.ts).
 */
export interface CheckByStatement {
  by: 'statement'
  /** Returns the current entity tag. Undefined if the item does not exist for the person. */
  findTag: (db: Database, person: Person, id: unknown) => Promise<string | undefined>
}

/**
 * A change can consist of several statements. The row stays locked from the comparison to the commit, so that no concurrent
 * change is lost.
 */
export interface CheckByLock {
  by: 'lock'
  /** Locks the item in a transaction, and returns its current entity tag. Undefined if the person may not change the item. */
  lockTag: (tx: Database, person: Person, id: unknown) => Promise<string | undefined>
}

/** What the guard reads of a resource. */
export interface GuardedResource {
  items?: Items
}
