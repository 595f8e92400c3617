import type { AnyProcedure } from '@orpc/server'
import { isChange, MAX_BYTES, metaOf, type Topic } from 'tallystick-contract/internal'

import { concernsItem, idSchemaOf } from '../guard/item-id.ts'
import type { Resource } from '../resource.ts'
import { suggest } from './suggestions.ts'

/** A procedure with the resource that it belongs to. */
export interface Declared {
  operation: string
  resource: Resource
  procedure: AnyProcedure
}

/** A sentence without the name of the procedure. Undefined if the procedure does not have this mistake. */
type Check = (declared: Declared) => string | undefined

/** Returns a sentence for each mistake in the declarations of a procedure. */
export const mistakesOfProcedure = (declared: Declared) =>
  [...checksOfChanges, ...checksOfItems, ...checksOfOthers].flatMap((check) => {
    const mistake = check(declared)
    return mistake === undefined ? [] : [`${declared.operation}: ${mistake}`]
  })

const methodOf = ({ procedure }: Declared) => procedure['~orpc'].route.method ?? 'POST'

/** In a cycle of imports, a module can read a topic before its declaration. */
export const isDefined = (topic: Topic | undefined): topic is Topic => topic !== undefined

/** The method decides whether a call changes data: for the audit trail, scopes, and pages of other origins. */
const checksOfChanges: readonly Check[] = [
  (declared) =>
    isChange(declared.procedure) && metaOf(declared.procedure).updates === undefined
      ? `a ${methodOf(declared)} changes data, so \`updates\` must name the topics that change, or be empty: \`.meta({ updates: [] })\`. A procedure that only reads needs \`.route({ method: 'GET', … })\``
      : undefined,
  (declared) => {
    if (isChange(declared.procedure)) return undefined
    const { updates, scope, idempotencyKey, ifMatch, tool } = metaOf(declared.procedure)
    const contradictions = {
      '`updates`': updates !== undefined,
      'the scope `write`': scope === 'write',
      '`idempotencyKey`': idempotencyKey,
      '`ifMatch`': ifMatch,
      'the effect of the tool': tool !== undefined && tool.effect !== 'read',
    }
    const [first] = Object.entries(contradictions).flatMap(([name, isDeclared]) => (isDeclared ? [name] : []))
    return (
      first &&
      `a ${methodOf(declared)} changes no data, but ${first} declares a change; write \`.route({ method: 'POST', … })\``
    )
  },
  ({ procedure }) => {
    const { scope, updates = [] } = metaOf(procedure)
    return scope === 'read' && updates.length > 0
      ? '`updates` names topics that change, but an app needs only the scope `read`; use `writing`, `creating` or `changing`'
      : undefined
  },
  ({ procedure }) => {
    const { tool, updates = [] } = metaOf(procedure)
    return tool?.effect === 'read' && updates.length > 0
      ? "the tool has the effect `read`, but `updates` names topics that change; write `effect: 'create'` or `effect: 'overwrite'`"
      : undefined
  },
  ({ procedure }) =>
    metaOf(procedure).updates?.every(isDefined) === false
      ? 'a topic in `updates` is undefined; contracts must not import each other'
      : undefined,
]

const relationsOf = ({ resource }: Declared) => Object.values(resource.items?.permissions ?? {})

const isCheckedByStatement = ({ resource: { items }, procedure }: Declared) =>
  metaOf(procedure).ifMatch && metaOf(procedure).action !== undefined && items?.ifMatch?.by === 'statement'

const checksOfItems: readonly Check[] = [
  (declared) => {
    const { action } = metaOf(declared.procedure)
    const actions = relationsOf(declared).flat()
    return action === undefined || actions.includes(action)
      ? undefined
      : `no relation permits the action ${action}${suggest(action, actions) || '; add the action to `permissions` in the items of the resource'}`
  },
  ({ resource: { items }, procedure }) =>
    concernsItem(metaOf(procedure), items) && !idSchemaOf(procedure['~orpc'])
      ? 'an action or If-Match needs the id of an item, so the input must be an object schema with the field `id`: `.input(z.object({ id: RowId, … }))`, or `.extend(ById.shape)`'
      : undefined,
  ({ resource: { items }, procedure }) =>
    metaOf(procedure).ifMatch && !items?.ifMatch
      ? 'the resource has no entity tag for If-Match; add `ifMatch` to its items'
      : undefined,
  (declared) =>
    isCheckedByStatement(declared) && relationsOf(declared).length > 1
      ? 'a statement can check If-Match only if the owner is the only relation'
      : undefined,
  ({ procedure }) => {
    const { idempotencyKey, ifMatch } = metaOf(procedure)
    return idempotencyKey && ifMatch
      ? 'supports both `Idempotency-Key` and `If-Match`; use `creating` for a new item, or `changing` for a change of an item, which answers 412 instead of happening twice'
      : undefined
  },
]

const checksOfOthers: readonly Check[] = [
  (declared) => {
    const { maxBytes } = metaOf(declared.procedure)
    if (maxBytes === undefined) return undefined
    if (methodOf(declared) === 'GET')
      return 'a GET has no body, so `maxBytes` has no effect; remove `maxBytes`'
    return Number.isInteger(maxBytes) && maxBytes > 0 && maxBytes <= MAX_BYTES
      ? undefined
      : `\`maxBytes\` is ${maxBytes}, but must be a number of bytes from 1 to ${MAX_BYTES} (16 MiB)`
  },
  ({ procedure }) => {
    const { reads, action } = metaOf(procedure)
    return reads && action !== undefined ? `the state of a topic cannot need the action ${action}` : undefined
  },
  ({ procedure }) => {
    const { access, rateLimit, watches } = metaOf(procedure)
    return access === 'public' && rateLimit?.personal && !watches
      ? `the limit ${rateLimit.name} counts by account, but a public procedure has no caller; remove \`personal: true\`, so that the limit counts by network`
      : undefined
  },
  (declared) => {
    const hasInput = declared.procedure['~orpc'].inputSchema !== undefined
    const { constant, access, rateLimit, secrets } = metaOf(declared.procedure)
    if (!constant) return undefined
    const isSame = !hasInput && access === 'public' && !rateLimit && !secrets
    return isSame && !isChange(declared.procedure)
      ? undefined
      : '`constant` sends the first answer to all callers, so the procedure must be a public GET without input, limit and secrets; remove `constant: true`'
  },
]
