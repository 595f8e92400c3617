import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { useLanguage } from '../../language.tsx'
import { Composer } from '../forms/composer.tsx'
import type { FieldsOptions, FieldValues } from '../forms/fields.tsx'
import { Search, type useSearch } from '../forms/search.tsx'
import type { Rows } from './create-rows.ts'
import { AddSamples } from './add-samples.tsx'
import { Empty } from './empty.tsx'
import { ItemRow } from './item-row.tsx'
import { List } from './list.tsx'
import { Toolbar } from './toolbar.tsx'

interface Props<Id extends string | number, Item extends { id: Id }, Name extends string> {
  rows: Rows<Id, Item, Name>
  /** The query of the items, in pages. */
  query: UseInfiniteQueryResult
  /** The items of all loaded pages, from `rows.use`. */
  items: readonly Item[]
  fields: FieldsOptions<Name>
  /** The search of the list, if it has one. */
  search?: ReturnType<typeof useSearch>
  /** The name of the list. */
  label: string
  /** The name of the button that adds an item. Absent if the person may not add items. */
  add?: string | false | undefined
  /** Adds an item. */
  onAdd: (values: FieldValues<Name>) => Promise<unknown>
  /** What the items are in, for example the id of their parent: forms in other places have other drafts. */
  within?: string | number
  /** Shown instead of an empty list. */
  empty: string
  /** What the person may do with an item. By default, everything. */
  can?: ((item: Item) => { edit: boolean; delete: boolean }) | undefined
  /** The row of an item. By default, `ItemRow`. */
  children?: (item: Item) => ReactNode
}

/**
 * A list of items with a form for new ones, a search, pages, and rows that a person can edit and delete.
 *
 * @example
 * <Items rows={ideaRows} query={query} items={items} fields={fields} search={search} label={t('ideas')} … />
 */
export function Items<Id extends string | number, Item extends { id: Id }, Name extends string>({
  rows,
  query,
  items,
  fields,
  search,
  label,
  add,
  onAdd,
  within,
  empty,
  can,
  children = (item) => <ItemRow key={item.id} rows={rows} item={item} fields={fields} can={can?.(item)} />,
}: Props<Id, Item, Name>) {
  const { t } = useLanguage()
  return (
    <section aria-label={label}>
      {add && (
        <Composer
          name={rows.path}
          within={within}
          fields={fields}
          action={add}
          mutation={{ mutationFn: onAdd, onSettled: rows.refresh }}
          toInput={(values) => values}
          onAdd={() => {
            // The new item may not match the search.
            search?.setText('')
          }}
        />
      )}
      {search && (items.length > 0 || search.text) && (
        <Toolbar>
          <Search {...search} />
        </Toolbar>
      )}
      <List
        query={query}
        label={label}
        empty={<Empty text={search?.q ? t('nothingFound') : empty}>{!search?.q && <AddSamples />}</Empty>}
      >
        {items.map(children)}
      </List>
    </section>
  )
}
