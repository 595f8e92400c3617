import { skipToken, useQuery } from '@tanstack/react-query'
import type { CallContext } from 'tallystick-contract'

import { queryClient } from '../../query-client.ts'
import { createDrafts, type Edit } from '../../drafts.ts'
import { createUndoable } from '../../undo.ts'
import { type FieldValues, textOf } from '../forms/fields.tsx'

/** An item, with the entity tag of its version if the service has sent one. */
export type Tagged<Item> = Item & { etag?: string }

/** Options of a call of the typed client. */
interface CallOptions {
  context: CallContext
}

/** The queries of the titles of items, by the path of the list. */
const titleQueries = new Map<
  string,
  (id: string) => { queryKey: unknown[]; queryFn: () => Promise<string> }
>()

/** Returns the title of the item at an address such as `/gardens/7`. Undefined if there is none. */
export function useTitleAt(href: string) {
  const [, list = '', id = ''] = /^(.+)\/([^/]+)$/.exec(href) ?? []
  const query = titleQueries.get(list)?.(id)
  return useQuery(query ?? { queryKey: ['title'], queryFn: skipToken }).data
}

/** How the page reads and changes the items of a resource. */
interface RowsOptions<Id extends string | number, Item extends { id: Id }, Name extends string> {
  /** The path of the list. An item has the path `/ideas/7`. */
  path: string
  /** The names of the fields that a person edits. The first one is the title. */
  fields: readonly [Name, ...Name[]]
  /** The name of the text about deleted items. The text receives their `count`. */
  deleted: string
  /** The key of the queries that show items: `orpc.ideas.key()`. */
  key: readonly unknown[]
  get: (id: Id) => Promise<Tagged<Item>>
  /** Adds an item. `base` is the former item if a person saves an item that was deleted elsewhere. */
  create: (values: FieldValues<Name>, base: Item) => Promise<Tagged<Item>>
  /** Saves the fields of an item. The options have `If-Match`. */
  update: (values: FieldValues<Name>, id: Id, options: CallOptions) => Promise<Tagged<Item>>
  delete: (id: Id, options: CallOptions) => Promise<unknown>
}

/**
 * What the rows of a resource need outside of the components: the edited texts, the deletions that a person can undo, and the calls.
 *
 * @example
 * const ideaRows = createRows({
 *   path: '/ideas',
 *   fields: ['title'],
 *   deleted: 'ideasDeleted',
 *   key: orpc.ideas.key(),
 *   get: (id: number) => orpc.ideas.get.call({ id }),
 *   create: ({ title }) => orpc.ideas.create.call({ title }),
 *   update: ({ title }, id, options) => orpc.ideas.update.call({ id, title }, options),
 *   delete: (id, options) => orpc.ideas.delete.call({ id }, options),
 * })
 */
export function createRows<Id extends string | number, Item extends { id: Id }, const Name extends string>({
  path,
  fields,
  deleted,
  key,
  delete: remove,
  ...calls
}: RowsOptions<Id, Item, Name>) {
  const valuesOf = (item: object) =>
    Object.fromEntries(fields.map((name) => [name, textOf(Reflect.get(item, name))])) as FieldValues<Name>
  const isSame = (a: object, b: object) =>
    fields.every((name) => textOf(Reflect.get(a, name)) === textOf(Reflect.get(b, name)))
  const [title] = fields
  const elementOf = (id: Id) => `${path.slice(1)}-${id}`
  const edits = createDrafts<Id, Edit<Tagged<Item>, FieldValues<Name>>>(({ base, fields: written }) =>
    isSame(base, written),
  )
  const deletions = createUndoable<Id>({
    message: deleted,
    send: (id) => remove(id, { context: { keepalive: true } }),
    elementOf,
  })
  titleQueries.set(path, (id) => ({
    queryKey: [...key, 'title', id],
    queryFn: async () => valuesOf(await calls.get(id as Id))[title],
  }))
  return {
    ...calls,
    path,
    /** Returns the texts of the fields of an item. */
    valuesOf,
    /** Returns whether two versions of an item have the same texts in their fields. */
    isSame,
    /** Returns the id of the element of a row. */
    elementOf,
    edits,
    deletions,
    /** Shows the form of an item. */
    edit: (base: Tagged<Item>) => {
      edits.keep(base.id, { base, fields: valuesOf(base) })
    },
    /** Requests the items again. A change is shown as pending until this request has been answered. */
    refresh: () => queryClient.invalidateQueries({ queryKey: key }),
    /** Changes of an item are sent one after the other. */
    scopeOf: (id: Id) => ({ id: `${path}/${id}` }),
    /**
     * Returns the items to show: without the items that the person has deleted. An item stays while the person edits the item, also
     * if the item was deleted elsewhere, or no longer matches the filter. `isListed` selects the items of this list.
     */
    use: (loaded: readonly Item[] = [], isListed: (item: Item) => boolean = () => true): readonly Item[] => {
      const hidden = new Set(deletions.use())
      const edited = edits.useAll().map(({ base }) => base)
      const listed = loaded.filter(({ id }) => !hidden.has(id))
      const ids = new Set(listed.map(({ id }) => id))
      return [...edited.filter((item) => !ids.has(item.id) && isListed(item)), ...listed]
    },
  }
}

/** The rows of a resource, from `createRows`. */
export type Rows<Id extends string | number, Item extends { id: Id }, Name extends string> = ReturnType<
  typeof createRows<Id, Item, Name>
>
