import type { Topic } from 'tallystick-contract'

import type { Database } from '../db/connection/database.ts'
import type { Rows } from '../db/rows/index.ts'
import type { Caller } from './caller.ts'
import type { Recipient } from './live-stream.ts'

type Person = Caller['user']

/**
 * How the guard authorizes the actions on the items of a resource, for example on books. `Id` is the type of `id` in the
 * inputs: the contract decodes an id before the functions receive the id, and rejects other ids with 400. The default, `never`,
 * accepts items with any type of id. Items without actions have neither `permissions` nor `findRelation`.
 */
export type Items<Id = never> = (Authorization<Id> | Partial<Record<keyof Authorization, never>>) & {
  /** How `If-Match` is compared with the entity tag of an item. */
  ifMatch?: CheckedVersion<Id>
  /**
   * For items within a parent: the field of the inputs with the id of the parent, and the relations of a person to a parent.
   * The permissions of the items decide what a relation to the parent permits, for example to list or to create items.
   */
  parent?: { key: string; findRelation: Authorization['findRelation'] }
}

/** Needed if procedures of the resource have an action. */
export interface Authorization<Id = never> {
  /**
   * The authorization table: the actions that each relation permits. The key `anyone` has the actions that need no relation to an item.
   * The guard uses the table for its checks, and procedures for the field `can` of responses.
   */
  permissions: Readonly<Record<string, readonly string[]>>
  /** Finds the relations of a person to the item with an id. Undefined if the item does not exist for the person. */
  findRelation: (db: Database, person: Person, id: Id) => Promise<Relations | undefined>
}

/** The relations of a person to an item, and the live states that show the item. */
export interface Relations {
  /** The names of the relations in the authorization table. A permission of one of them is sufficient. */
  names: readonly string[]
  /** The recipients of an announcement after a change of the item: their states show the item. */
  recipients: readonly Recipient[]
}

/**
 * The version of an item, for `If-Match`. A change can consist of several statements, so the row stays locked from the comparison to
 * the commit, and no concurrent change is lost.
 */
export interface CheckedVersion<Id = never> {
  /** Locks the item in a transaction, and returns its current entity tag. Undefined if the person may not change the item. */
  lockTag: (tx: Database, person: Person, id: Id) => Promise<string | undefined>
  /**
   * Returns the current entity tag without a lock, for procedures whose statement compares the version. Without it, each change
   * locks the item.
   */
  findTag?: (db: Database, person: Person, id: Id) => Promise<string | undefined>
}

/** The parts of a resource that the guard and the operations of other resources use. */
export interface GuardedResource {
  items?: Items
  /** The rows that are the items of the resource. */
  rows?: Pick<Rows, 'table' | 'key' | 'visibility'> & Partial<Pick<Rows, 'leaving'>>
  watch?: { topic: Topic }
}
