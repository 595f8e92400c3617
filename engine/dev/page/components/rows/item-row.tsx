import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'

import { useAppLanguage, useLanguage } from '../../language.tsx'
import { useFindView, useViewsWithin } from '../views/view-at.ts'
import { type FieldsOptions, namesOf } from '../forms/fields.tsx'
import { Problem } from '../problem.tsx'
import type { Rows } from './create-rows.ts'
import { EditRow } from './edit-row.tsx'
import { DeleteAction, EditAction, Row, RowActions, RowTitle, useRowTitle } from './row.tsx'

/**
 * Returns the attributes of the button that opens the form of an item, and the error if the item could not be loaded.
 *
 * @example
 * const { error, ...opening } = useOpenForm(ideaRows, idea)
 * <EditAction {...opening} />
 */
export function useOpenForm<Id extends string | number, Item extends { id: Id }, Name extends string>(
  rows: Rows<Id, Item, Name>,
  item: Item,
) {
  // Requests the current version, because a list has no entity tags. The scope lets changes of the item come first: the list
  // would otherwise show an older version, which looks like a change by another device.
  const { isPending, error, mutate } = useMutation({
    scope: rows.scopeOf(item.id),
    mutationFn: () => rows.get(item.id),
    onSuccess: rows.edit,
  })
  return {
    isPending,
    error,
    onAct: () => {
      if (navigator.onLine) mutate()
      else rows.edit(item)
    },
  }
}

interface Props<Id extends string | number, Item extends { id: Id }, Name extends string> {
  rows: Rows<Id, Item, Name>
  item: Item
  fields: FieldsOptions<Name>
  /** What the person may do. By default, everything. */
  can?: { edit: boolean; delete: boolean } | undefined
  /** Further buttons: `<RowAction>`. */
  actions?: ReactNode
  /** Shown below the title. */
  children?: ReactNode
}

/**
 * A row with the title of an item, the buttons `Edit` and `Delete`, and the form of the item while the person edits. The title is a
 * link if the item has a view of its own. Otherwise, the row has links to the views within the item. An item with `mine: false` is marked.
 *
 * @example
 * <ItemRow key={idea.id} rows={ideaRows} item={idea} fields={fields} />
 */
export function ItemRow<Id extends string | number, Item extends { id: Id }, Name extends string>({
  rows,
  item,
  fields,
  can = { edit: true, delete: true },
  actions,
  children,
}: Props<Id, Item, Name>) {
  const { id } = item
  const { t } = useLanguage()
  const edited = rows.edits.use(id)
  const { error, ...opening } = useOpenForm(rows, item)
  const [first] = namesOf(fields)
  const title = first && rows.valuesOf(item)[first]
  const href = `${rows.path}/${id}`
  const hasView = useFindView()(href) !== undefined

  if (edited)
    return (
      <Row isEdited>
        <EditRow rows={rows} base={edited.base} current={item} fields={fields} />
      </Row>
    )
  return (
    <Row id={rows.elementOf(id)}>
      <div className="grow">
        <RowTitle>{hasView ? <Link href={href}>{title}</Link> : title}</RowTitle>{' '}
        {'mine' in item && item.mine === false && <small className="badge">{t('sharedWithYou')}</small>}
        {!hasView && <LinksWithin href={href} />}
        {children}
        <Problem error={error} />
      </div>
      <Age item={item} />
      <RowActions>
        {can.edit && <EditAction {...opening} />}
        {actions}
        {can.delete && (
          <DeleteAction
            onAct={() => {
              rows.deletions.change(id)
            }}
          />
        )}
      </RowActions>
    </Row>
  )
}

/** The time since an item was created, if it has `createdAt` in Unix seconds. */
function Age({ item }: { item: object }) {
  const { formatAge, formatTime } = useLanguage()
  if (!('createdAt' in item) || typeof item.createdAt !== 'number') return null
  return (
    <time
      className="muted age"
      dateTime={new Date(item.createdAt * 1000).toISOString()}
      title={formatTime(item.createdAt)}
    >
      {formatAge(item.createdAt)}
    </time>
  )
}

/** Links to the views within an item. */
function LinksWithin({ href }: { href: string }) {
  const { languageOf } = useAppLanguage()
  const titleId = useRowTitle()
  return useViewsWithin(href).map(({ view, href: path }) => (
    <Link key={path} href={path} className="within" aria-describedby={titleId}>
      {languageOf(view.texts).t(view.title)}
    </Link>
  ))
}
