import { isObject } from '@orpc/shared'
import { badRequest, type Meta } from 'tallystick-contract/internal'
import * as z from 'zod'

import type { Items } from '../items.ts'
import { isPermitted } from './permissions.ts'
import type { ProcedureContract } from './procedure-contract.ts'

/** Returns whether a call concerns an item. An action of `anyone` needs no item. */
export const concernsItem = ({ action, ifMatch }: Meta, items: Items | undefined) =>
  ifMatch === true || (action !== undefined && !isPermitted(items?.permissions ?? {}, 'anyone', action))

/**
 * Returns the schema of the field `id` of an input. Undefined if the input is not an object schema with this field, or if
 * the object schema replaces its value: the procedure could then receive another id than the guard has checked.
 */
export function idSchemaOf({ inputSchema }: Pick<ProcedureContract, 'inputSchema'>) {
  if (!(inputSchema instanceof z.core.$ZodObject)) return undefined
  const { shape, checks = [] } = inputSchema._zod.def
  return checks.some(({ _zod }) => _zod.def.check === 'overwrite') ? undefined : shape.id
}

/**
 * Returns the id of the item that a call concerns, as the contract decodes the id: the number 7 for the text 7 in a path.
 * The procedure receives the same id. Throws 400 if the contract rejects the id, so that the call ends in the guard.
 */
export async function decodeId(procedure: ProcedureContract, input: unknown): Promise<unknown> {
  const schema = idSchemaOf(procedure)
  if (!schema) throw new Error('The input has no field `id`, so the guard cannot find the item')
  const result = await schema['~standard'].validate(isObject(input) ? input.id : undefined)
  if (!result.issues) return result.value
  throw badRequest(result.issues.map(({ path = [], message }) => ({ path: ['id', ...path], message })))
}
