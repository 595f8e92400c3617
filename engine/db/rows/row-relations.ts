import { or, type Placeholder, type SQL, sql } from 'drizzle-orm'

import { type Branch, either, type Viewer, type Visibility } from './visibility.ts'

/** A relation that a column or a time decides, in addition to the relation to the row or its parent. */
export type RowRelations = Readonly<Record<string, (viewer: Viewer) => SQL>>

/**
 * Adds relations to a visibility: a person who sees a row has them, too, if their conditions hold. The texts of relations are
 * then lists with commas: `agent,author`.
 */
export function withRelations(visibility: Visibility, added: RowRelations): Visibility {
  const entries = Object.entries(added)
  if (entries.length === 0) return visibility
  const append = (relation: SQL, viewer: Viewer) =>
    sql.join(
      [
        relation,
        ...entries.map(
          ([name, condition]) =>
            sql`case when ${condition(viewer)} then ${sql.raw(`',${name}'`)} else '' end`,
        ),
      ],
      sql` || `,
    )
  const appendTo =
    (viewer: Viewer) =>
    ({ equal: _, ...branch }: Branch): Branch => ({ ...branch, relation: append(branch.relation, viewer) })
  const { branchOf } = visibility
  return {
    ...visibility,
    withoutAdded: visibility,
    relations: [...visibility.relations, ...entries.map(([name]) => name)],
    relation: (viewer) => append(sql`(${visibility.relation(viewer)})`, viewer),
    isVisible(viewer, relations) {
      if (!relations) return visibility.isVisible(viewer)
      const conditions = entries.flatMap(([name, condition]) =>
        relations.includes(name) ? [condition(viewer)] : [],
      )
      return either(
        visibility.isVisible(viewer, relations),
        conditions.length > 0 && sql`${visibility.isVisible(viewer)} and (${or(...conditions)})`,
      )
    },
    branches: (viewer, relations) => visibility.branches(viewer, relations).map(appendTo(viewer)),
    ...(branchOf && {
      branchOf: (viewer: Viewer, parent: Placeholder, relations?: readonly string[]) =>
        appendTo(viewer)(branchOf(viewer, parent, relations)),
    }),
  }
}
