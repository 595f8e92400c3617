import { call, implement } from '@orpc/server'
import { htmlEscape } from 'escape-goat'
import { selectWith } from 'tallystick/db'
import {
  type Context,
  isPermitted,
  newestFirst,
  type Order,
  readPage,
  type Reply,
  type Resource,
  versionTag,
  withCaller,
} from 'tallystick'

import { contract, type ShelfAction, shelvesTopic } from './contract.ts'
import * as query from './db.ts'

const os = implement(contract.shelves).$context<Context>().use(withCaller)

const permissions: Record<'owner' | 'editor' | 'reader', readonly ShelfAction[]> = {
  owner: ['RENAME_SHELF', 'SHARE_SHELF'],
  editor: ['RENAME_SHELF'],
  reader: [],
}

const order: Order<query.ShelfRow> = { ...newestFirst, textsOf: ({ name }) => [name] }

const procedures = os.router({
  list: os.list.handler(async (call) => {
    const { db, user } = call.context
    const { rows } = await readPage(call, order, (page) => query.listShelves(db, user, page))
    return { shelves: rows.map((row) => view(row, user.id)) }
  }),

  create: os.create.handler(async ({ context: { db, user, reply }, input: { name } }) =>
    viewWithETag(reply, await query.insertShelf(db, user, name), user.id),
  ),

  rename: os.rename.handler(async ({ context: { db, user, reply }, input: { id, name }, errors }) => {
    const row = await query.renameShelf(db, user, id, name)
    if (!row) throw errors.NOT_FOUND()
    return viewWithETag(reply, row, user.id)
  }),

  share: os.share.handler(async ({ context, input: { id, ...share }, errors }) => {
    const { db, user, reply, announce } = context
    const row = await query.shareShelf(db, user, id, share)
    if (!row) throw errors.NOT_FOUND()
    announce(shelvesTopic, { address: share.email })
    return viewWithETag(reply, row, user.id)
  }),

  unshare: os.unshare.handler(async ({ context, input: { id, email }, errors }) => {
    const { db, user, reply, announce } = context
    const row = await query.unshareShelf(db, user, id, email)
    if (!row) throw errors.NOT_FOUND()
    announce(shelvesTopic, { address: email })
    return viewWithETag(reply, row, user.id)
  }),
})

const list = (context: Context) => call(procedures.list, undefined, { context, path: ['shelves', 'list'] })

const patch = ({ shelves }: { shelves: { name: string }[] }) => ({
  selector: '#shelves',
  html: `<ul>${shelves.map(({ name }) => htmlEscape`<li>${name}</li>`).join('')}</ul>`,
  signals: { shelfCount: shelves.length },
})

const relationTo = ({ userId, role }: query.ShelfRow, viewerId: string) =>
  userId === viewerId ? 'owner' : (role ?? 'stranger')

export const shelves = {
  description: 'The shelves of a person, which other people can read or edit.',
  procedures,
  items: {
    permissions,
    findRelation: async (db, user, id: number) => {
      const row = await query.findShelf(db, user, id)
      return row && { names: [relationTo(row, user.id)], recipients: [{ person: row.userId }] }
    },
    ifMatch: {
      by: 'lock',
      lockTag: async (tx, user, id: number) => {
        const row = await query.lockShelf(tx, user, id)
        return row && versionTag(row)
      },
    },
  },
  personalData: {
    select: selectWith(query.exportShelves, ({ shelves, shares }) => ({
      shelves: shelves.map(({ id, name }) => ({
        id,
        name,
        shares: shares.flatMap(({ shelfId, ...share }) => (shelfId === id ? [share] : [])),
      })),
    })),
    remove: query.removeShares,
  },
  datastar: {
    patches: { list: patch, create: async (_, context) => patch(await list(context)) },
    live: { topic: shelvesTopic, patch },
  },
  watch: { topic: shelvesTopic, listOtherOwners: query.listShelfOwners },
} satisfies Resource

const view = (row: query.ShelfRow, viewerId: string) => {
  const relation = relationTo(row, viewerId)
  const can = (action: ShelfAction) => isPermitted(permissions, relation, action)
  return {
    id: row.id,
    name: row.name,
    isOwn: relation === 'owner',
    can: { RENAME_SHELF: can('RENAME_SHELF'), SHARE_SHELF: can('SHARE_SHELF') },
  }
}

function viewWithETag(reply: Reply, row: query.ShelfRow, viewerId: string) {
  reply.set('etag', versionTag(row))
  return view(row, viewerId)
}
