import type { LiveUpdate } from '../call/live-stream.ts'
import type { ProcedureContract } from '../guard/procedure-contract.ts'

/** A live state: how it is read, which streams share it, and which changes cause a new read. */
export interface Source {
  /** The name of the topic. */
  topic: string
  /** The parent whose rows the state shows, by the name of the field in the input. */
  of?: LiveUpdate['of'] | undefined
  /** The name in event ids: the topic, and the parent. States of different people have the same name. */
  name: string
  /** Whether only a signed-in caller may receive the topic. */
  isPrivate: boolean
  /** The contract of the procedure that reads the state, which declares who may receive the topic. */
  contract: ProcedureContract
  /** Identifies the state. Streams with the same id share the state. */
  id: string
  /** The account that reads the state. Empty for a state that everyone reads. */
  account: string
  /** Maximum number of states with the same `key`. Set for topics with an input, because each input is a state of its own. */
  maxStates?: number | undefined
  /** The key of the changes of the caller's own data. */
  key: string
  /** The key of the changes of the parent. */
  parentKey?: string | undefined
  /** The key of the changes for the caller's address, for example of memberships. */
  addressKey?: string | undefined
  /**
   * Returns further keys of the changes that may affect the state: of other accounts and of parents. Called before each
   * read, because memberships change.
   */
  otherKeys?: (() => Promise<readonly string[]>) | undefined
  read: () => Promise<unknown>
}
