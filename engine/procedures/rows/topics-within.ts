import { eq, getTableColumns } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Topic } from 'tallystick-contract/internal'

import { comparable } from '../../db/column-types.ts'
import type { Database } from '../../db/connection/database.ts'
import type { ParentRows } from '../../db/rows/visibility.ts'
import type { GuardedResource } from '../../call/items.ts'
import type { Announce, Recipient } from '../../call/live-stream.ts'

interface TopicWithin {
  topic: Topic
  /** Whether the rows of the table are the parents of the topic, and not the parents of a parent. */
  isDirect: boolean
}

/** Lists the topics of the rows within the rows of a table, at any depth. A change of who sees a row changes their states. */
export function listTopicsWithin(
  resources: Readonly<Record<string, GuardedResource>>,
  table: PgTable,
  isDirect = true,
): TopicWithin[] {
  return Object.entries(resources).flatMap(([name, { rows, watch }]) => {
    if (rows?.visibility.parent?.rows.table !== table) return []
    // Rows can be within rows of the same table, for example folders.
    const { [name]: _, ...others } = resources
    return [
      ...(watch ? [{ topic: watch.topic, isDirect }] : []),
      ...listTopicsWithin(others, rows.table, false),
    ]
  })
}

/** Lists who sees a row: the account of the owner, and the addresses of the members. */
async function listViewers(
  db: Database,
  { table, key, visibility }: Pick<ParentRows, 'table' | 'key' | 'visibility'>,
  id: unknown,
): Promise<Recipient[]> {
  const { owner, members, parent } = visibility
  const columns = getTableColumns(table)
  const ownerOrParent = columns[owner ?? parent?.key ?? '']
  const keyColumn = columns[key]
  if (!ownerOrParent || !keyColumn) return []
  const [row] = await db
    .select({ id: table.id, ownerOrParent })
    .from(table)
    .where(eq(keyColumn, comparable(keyColumn, id)))
  if (!row) return []
  // People see a row without an owner because they see its parent.
  if (owner === undefined) return parent ? listViewers(db, parent.rows, row.ownerOrParent) : []
  const found = members
    ? await db.select({ address: members.table.email }).from(members.table).where(eq(members.item, row.id))
    : []
  return [
    { person: String(row.ownerOrParent) },
    ...found.map(({ address }) => ({ address: String(address) })),
  ]
}

/**
 * Lists the announcements after a change of who sees a row, one for each topic of the rows within the row. Read this before a removal,
 * which ends the memberships.
 */
export async function listAnnouncementsWithin(
  db: Database,
  resources: Readonly<Record<string, GuardedResource>>,
  rows: Pick<ParentRows, 'table' | 'key' | 'visibility'>,
  id: unknown,
): Promise<Parameters<Announce>[]> {
  const topics = listTopicsWithin(resources, rows.table)
  const viewers = topics.every(({ isDirect }) => isDirect) ? [] : await listViewers(db, rows, id)
  return topics.map(({ topic, isDirect }) => [
    topic,
    ...(isDirect ? [{ parent: id as string | number }] : viewers),
  ])
}
