import { isObject } from '@orpc/shared'
import { actionsOf, badRequest, type ItemAction } from 'tallystick-contract/internal'
import * as z from 'zod'

import type { GuardedResource, Items } from '../call/items.ts'
import type { ProcedureContract } from './procedure-contract.ts'

// The permissions that a call needs: which they are, and who checks them, the guard or the statement of the procedure.

/**
 * Returns whether an authorization table permits an action to a relation.
 *
 * @example
 * isPermitted({ owner: ['EDIT_BOOK'] }, 'owner', 'EDIT_BOOK') // true
 */
export const isPermitted = <Action extends string>(
  permissions: Readonly<Record<string, readonly Action[]>>,
  relation: string,
  action: NoInfer<Action>,
) => permissions[relation]?.includes(action) ?? false

/** Returns the relations that permit an action. Undefined if every caller may do it. */
export const relationsWith = (
  permissions: Readonly<Record<string, readonly string[]>> = {},
  action: string,
) =>
  isPermitted(permissions, 'anyone', action)
    ? undefined
    : Object.keys(permissions).filter((relation) => isPermitted(permissions, relation, action))

/** A permission that a call needs: for an action on the item with an id. */
export interface RequiredPermission {
  action: ItemAction
  items: Items
  id: unknown
}

/** Returns whether an action concerns the item of the procedure's own resource. `id` is the name of an input field. */
export const concernsOwnItem = ({ of, id }: Pick<ItemAction, 'of' | 'id'>) => of === undefined && id === 'id'

/** Returns whether an action concerns an item. An action of `anyone` needs no item. */
export const concernsItem = ({ name }: ItemAction, items: Items | undefined) =>
  !isPermitted(items?.permissions ?? {}, 'anyone', name)

/**
 * Returns the schema of a field of an input. Undefined if the input is not an object schema with this field, or if the object
 * schema replaces its value: the procedure could then receive another id than the guard has checked.
 */
export function fieldSchemaOf({ inputSchema }: Pick<ProcedureContract, 'inputSchema'>, field: string) {
  const schema = inputSchema instanceof z.core.$ZodOptional ? inputSchema._zod.def.innerType : inputSchema
  if (!(schema instanceof z.core.$ZodObject)) return undefined
  const { shape, checks = [] } = schema._zod.def
  if (checks.some(({ _zod }) => _zod.def.check === 'overwrite')) return undefined
  return Object.hasOwn(shape, field) ? shape[field] : undefined
}

/**
 * Returns an id in the input, as the contract decodes the id: the number 7 for the text 7 in a path. The procedure receives
 * the same id. Throws 400 if the contract rejects the id, so that the call ends in the guard.
 */
export async function decodeId(procedure: ProcedureContract, input: unknown, field = 'id'): Promise<unknown> {
  const schema = fieldSchemaOf(procedure, field)
  if (!schema) throw new Error(`The input has no field \`${field}\`, so the guard cannot find the item`)
  const result = await schema['~standard'].validate(isObject(input) ? input[field] : undefined)
  if (!result.issues) return result.value
  throw badRequest(result.issues.map(({ path = [], message }) => ({ path: [field, ...path], message })))
}

/**
 * Returns the items that an action belongs to: by default, those of the resource with the procedure. If the field of the action is the
 * id of a parent, for example of the project of a new ticket, the permissions of tickets decide, with the relation to the project.
 */
function itemsOfAction(
  resources: Readonly<Record<string, GuardedResource>>,
  { of, id }: ItemAction,
  path: readonly string[],
): Items | undefined {
  const [name = ''] = path
  const items = resources[of ?? name]?.items
  const { parent, permissions } = items ?? {}
  return of === undefined && permissions && id === parent?.key
    ? { permissions, findRelation: parent.findRelation }
    : items
}

/** Returns the permissions that a call needs, with the decoded ids. An optional id that is not given needs no permission. */
export async function requiredPermissionsOf(
  resources: Readonly<Record<string, GuardedResource>>,
  procedure: ProcedureContract,
  path: readonly string[],
  input: unknown,
): Promise<RequiredPermission[]> {
  const permissions: RequiredPermission[] = []
  for (const action of actionsOf(procedure.meta)) {
    const items = itemsOfAction(resources, action, path)
    if (!items?.permissions) throw new Error(`No relation permits the action ${action.name}`)
    if (!concernsItem(action, items)) continue
    const id = await decodeId(procedure, input, action.id)
    if (id !== undefined) permissions.push({ action, items, id })
  }
  return permissions
}

/** Returns whether a statement checks the permission of an action. */
type Covers = (action: ItemAction) => boolean

const handlers = new WeakMap<object, Covers>()

/**
 * Marks the handler of a procedure whose statement checks the version of the row, and the permissions of the actions that
 * `covers` selects. The guard then does not read the item before the call: it reads the item only if the statement finds no row, to
 * choose the error.
 */
export function markChecksInStatement<Handler extends object>(covers: Covers, handler: Handler): Handler {
  handlers.set(handler, covers)
  return handler
}

/** Returns which permissions the statement of a handler checks. Undefined if the guard must check all. */
export const statementChecksOf = (handler: object) => handlers.get(handler)
