import type { ItemAction } from 'tallystick-contract/internal'

/** Returns whether a statement checks the permission of an action. */
type Covers = (action: ItemAction) => boolean

const handlers = new WeakMap<object, Covers>()

/**
 * Marks the handler of a procedure whose statement checks the version of the row, and the permissions of the actions that
 * `covers` selects. The guard reads these items only if no row fulfills the conditions.
 */
export function checksInStatement<Handler extends object>(handler: Handler, covers: Covers): Handler {
  handlers.set(handler, covers)
  return handler
}

/** Returns which permissions the statement of a handler checks. Undefined if the guard must check all. */
export const statementChecksOf = (handler: object) => handlers.get(handler)
