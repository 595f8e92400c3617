import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, rows, shared, userIdColumn, within } from 'tallystick/db'
import { describe, expect, test } from 'vitest'

import { suffixOf } from '../db/rows/pages.ts'
import { projectRows } from './tracker/db.ts'

const id = () => bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity()
const posts = pgTable('posts', {
  id: id(),
  projectId: bigint({ mode: 'number' }).notNull(),
  userId: userIdColumn(),
  createdAt,
})
const replies = pgTable('replies', {
  id: id(),
  postId: bigint({ mode: 'number' }).notNull(),
  userId: userIdColumn(),
  createdAt,
})

describe('rows', () => {
  test('within rows with an author do not have the author of their parent', () => {
    const postRows = rows(posts, { visible: within(projectRows, 'projectId'), author: 'userId', create: [] })
    const replyRows = rows(replies, { visible: within(postRows, 'postId'), create: [] })

    expect(postRows.visibility.relations).toEqual(['owner', 'agent', 'viewer', 'guest', 'author'])
    expect(replyRows.visibility.relations).toEqual(['owner', 'agent', 'viewer', 'guest'])
  })

  test.each(['owner', 'author', 'anyone', 'reader,writer'])('cannot have a role with the name %s', (role) => {
    const items = pgTable('items', { id: id(), userId: userIdColumn(), createdAt })
    const members = pgTable('item_members', {
      itemId: bigint({ mode: 'number' }).references(() => items.id),
      email: text().notNull(),
      role: text({ enum: [role] }).notNull(),
      createdAt,
    })

    expect(() => rows(items, { visible: shared({ members }), create: [] })).toThrow(
      `item_members: a role cannot have the name ${role}`,
    )
  })

  test('have different statements for no relation, for any relation, and for names with underscores', () => {
    const suffixes = [undefined, [], ['team', 'lead'], ['team_lead']].map((relations) =>
      suffixOf([], projectRows.visibility, {}, relations),
    )

    expect(new Set(suffixes).size).toBe(4)
  })
})
