import type { AnyProcedure } from '@orpc/server'
import { actionsOf, isChange, MAX_BYTES, metaOf, type Topic } from 'tallystick-contract/internal'

import { concernsItem, fieldSchemaOf } from '../../../guard/permissions.ts'
import type { Items } from '../../../call/items.ts'
import type { Resource, Resources } from '../../../app/resource.ts'
import { suggest } from './suggestions.ts'

/** A procedure with the resource that it belongs to. */
export interface Declared {
  operation: string
  resource: Resource
  /** All resources of the application. */
  resources: Resources
  procedure: AnyProcedure
}

/** A sentence without the name of the procedure. Undefined if the procedure does not have this mistake. */
type Check = (declared: Declared) => string | undefined

/** Checks by the mistake that they find. */
type Checks = Readonly<Record<string, Check>>

/** Returns a sentence for each mistake in the declarations of a procedure. */
export const mistakesOfProcedure = (declared: Declared) =>
  Object.values({ ...checksOfChanges, ...checksOfItems, ...checksOfOthers }).flatMap((check) => {
    const mistake = check(declared)
    return mistake === undefined ? [] : [`${declared.operation}: ${mistake}`]
  })

const methodOf = ({ procedure }: Declared) => procedure['~orpc'].route.method ?? 'POST'

/** In a cycle of imports, a module can read a topic before its declaration. */
export const isDefined = (topic: Topic | undefined): topic is Topic => topic !== undefined

/** The method decides whether a call changes data: for the audit trail, scopes, and pages of other origins. */
const checksOfChanges: Checks = {
  changeWithoutTopics: (declared) =>
    isChange(declared.procedure) && metaOf(declared.procedure).updates === undefined
      ? `a ${methodOf(declared)} changes data, so \`updates\` must name the topics that change, or be empty: \`.meta({ updates: [] })\`. A procedure that only reads needs \`.route({ method: 'GET', … })\``
      : undefined,
  readThatChanges: (declared) => {
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
  changeWithScopeRead: ({ procedure }) => {
    const { scope, updates = [] } = metaOf(procedure)
    return scope === 'read' && updates.length > 0
      ? '`updates` names topics that change, but an app needs only the scope `read`; use `writing`, `creating` or `changing`'
      : undefined
  },
  changeWithToolThatReads: ({ procedure }) => {
    const { tool, updates = [] } = metaOf(procedure)
    return tool?.effect === 'read' && updates.length > 0
      ? "the tool has the effect `read`, but `updates` names topics that change; write `effect: 'create'` or `effect: 'overwrite'`"
      : undefined
  },
  undefinedTopic: ({ procedure }) =>
    metaOf(procedure).updates?.every(isDefined) === false
      ? 'a topic in `updates` is undefined; contracts must not import each other'
      : undefined,
}

/** The actions of a procedure, each with the items that it concerns. `id` of an action is the field of the input with the id of the item. */
const actionsWithItems = ({ resource, resources, procedure }: Declared) =>
  actionsOf(metaOf(procedure)).map((action) => ({
    action,
    items: action.of === undefined ? resource.items : resources[action.of]?.items,
  }))

const permittedBy = (items: Items | undefined) => Object.values(items?.permissions ?? {}).flat()

const checksOfItems: Checks = {
  accessWithoutAuditEntry: ({ procedure }) =>
    metaOf(procedure).grantsAccess && !metaOf(procedure).audit
      ? "`sharing` changes who has access; name the entry in the audit trail: `.meta({ audit: 'projects.invite' })`"
      : undefined,
  parentWithoutAction: ({ resource, procedure }) => {
    const { parent, relations = [] } = resource.rows?.visibility ?? {}
    const meta = metaOf(procedure)
    // If the rows have one relation only, everybody who sees the parent is its owner, and needs no permission.
    const isChecked = !parent || relations.length === 1 || actionsOf(meta).some(({ id }) => id === parent.key)
    return !isChecked &&
      isChange(procedure) &&
      meta.access === 'signedIn' &&
      fieldSchemaOf(procedure['~orpc'], parent.key)
      ? `the input names a parent in \`${parent.key}\`, but no action permits it: everybody who sees the parent could add rows. Add \`{ name: 'CREATE_…', id: '${parent.key}' }\` to \`action\``
      : undefined
  },
  repeatedItem: ({ procedure }) => {
    const ids = actionsOf(metaOf(procedure)).map(({ id }) => id)
    const repeated = ids.find((id, index) => ids.indexOf(id) < index)
    return (
      repeated &&
      `two actions concern the item in \`${repeated}\`; declare one action, and permit it to the relations that may do both`
    )
  },
  unknownAction: (declared) => {
    const { resources } = declared
    for (const { action, items } of actionsWithItems(declared)) {
      if (action.of !== undefined && !resources[action.of])
        return `the action ${action.name} belongs to ${action.of}, but there is no such resource${suggest(action.of, Object.keys(resources))}`
      const actions = permittedBy(items)
      if (!actions.includes(action.name))
        return `no relation permits the action ${action.name}${suggest(action.name, actions) || `; add the action to \`permissions\` in the items of the resource${action.of === undefined ? '' : ` ${action.of}`}`}`
    }
    return undefined
  },
  actionOfOtherParent: ({ resource: { rows }, resources, procedure }) => {
    const { parent } = rows?.visibility ?? {}
    const other = actionsOf(metaOf(procedure)).find(
      ({ of, id }) =>
        of !== undefined && id === parent?.key && resources[of]?.rows?.table !== parent.rows.table,
    )
    return (
      other &&
      `the field ${other.id} names a parent of the rows, but the action ${other.name} belongs to ${other.of}; name the resource of the parent with \`of\`, or no resource for the permissions of the rows themselves`
    )
  },
  missingId: (declared) => {
    const { procedure } = declared
    const fields = [
      ...(metaOf(procedure).ifMatch ? ['id'] : []),
      ...actionsWithItems(declared).flatMap(({ action, items }) =>
        concernsItem(action, items) ? [action.id] : [],
      ),
    ]
    const missing = fields.find((field) => !fieldSchemaOf(procedure['~orpc'], field))
    return (
      missing &&
      `an action or If-Match needs the id of an item, so the input must be an object schema with the field \`${missing}\`: \`.input(z.object({ ${missing}: RowId, … }))\`${missing === 'id' ? ', or `.extend(ById.shape)`' : ''}`
    )
  },
  noEntityTag: ({ resource: { items }, procedure }) =>
    metaOf(procedure).ifMatch && !items?.ifMatch
      ? 'the resource has no entity tag for If-Match; add `ifMatch` to its items'
      : undefined,
  twoWaysToRepeat: ({ procedure }) => {
    const { idempotencyKey, ifMatch } = metaOf(procedure)
    return idempotencyKey && ifMatch
      ? 'supports both `Idempotency-Key` and `If-Match`; use `creating` for a new item, or `changing` for a change of an item, which answers 412 instead of happening twice'
      : undefined
  },
}

const checksOfOthers: Checks = {
  bodyLimit: (declared) => {
    const { maxBytes } = metaOf(declared.procedure)
    if (maxBytes === undefined) return undefined
    if (methodOf(declared) === 'GET')
      return 'a GET has no body, so `maxBytes` has no effect; remove `maxBytes`'
    return Number.isInteger(maxBytes) && maxBytes > 0 && maxBytes <= MAX_BYTES
      ? undefined
      : `\`maxBytes\` is ${maxBytes}, but must be a number of bytes from 1 to ${MAX_BYTES} (16 MiB)`
  },
  stateWithAction: ({ resource: { items }, procedure }) => {
    const own = actionsOf(metaOf(procedure)).find(
      ({ of, id }) => of === undefined && id !== items?.parent?.key,
    )
    return metaOf(procedure).reads && own
      ? `the state of a topic cannot need the action ${own.name} of an item; name the parent of the items with \`of\``
      : undefined
  },
  limitWithoutCaller: ({ procedure }) => {
    const { access, rateLimit, watches } = metaOf(procedure)
    return access === 'public' && rateLimit?.perAccount && !watches
      ? `the limit ${rateLimit.name} counts by account, but a public procedure has no caller; remove \`perAccount: true\`, so that the limit counts by network`
      : undefined
  },
  fixedAnswer: (declared) => {
    const hasInput = declared.procedure['~orpc'].inputSchema !== undefined
    const { fixedAnswer, access, rateLimit, secrets } = metaOf(declared.procedure)
    if (!fixedAnswer) return undefined
    const isSame = !hasInput && access === 'public' && !rateLimit && !secrets
    return isSame && !isChange(declared.procedure)
      ? undefined
      : '`fixedAnswer` sends the first answer to all callers, so the procedure must be a public GET without input, limit and secrets; remove `fixedAnswer: true`'
  },
}
