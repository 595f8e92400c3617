import type { Promisable } from '@orpc/shared'
import type { Page } from 'tallystick-contract/internal'

import type { Member, Related, Rows } from '../../db/rows/index.ts'
import { concernsOwnItem, markChecksInStatement } from '../../guard/permissions.ts'
import { newestFirstByText, readPage } from '../lists/pagination.ts'
import {
  type Answering,
  answerOf,
  type Call,
  hasRelation,
  type ItemCall,
  notFound,
  recipientsOf,
  requirementsOf,
  type Success,
} from './calls.ts'
import { listTopicsWithin } from './topics-within.ts'

interface Options<Row, New, Changes, View, Role extends string> {
  rows: Rows<Row, New, Changes, Role>
  /** Returns the view of a row, and sets its entity tag. */
  viewWithTag: (call: Call, row: Row & Related) => View
}

/** Creates the handlers for the people with access to the rows of a resource. */
export function createMemberOperations<Row, New, Changes, View, Role extends string>({
  rows,
  viewWithTag,
}: Options<Row, New, Changes, View, Role>) {
  /** Throws if the rows have no members. */
  const requireMembers = () => {
    if (!rows.members) throw new Error(`The rows of ${rows.name} have no members`)
    return rows.members
  }

  /** Announces a change of a membership to the address, and to those who see the row. The audit trail names the address. */
  const announceMember = ({ context, procedure }: Call, row: object | undefined, address: string) => {
    context.affects?.(address)
    for (const topic of procedure['~orpc'].meta.updates ?? [])
      context.announce(topic, { address }, ...(row ? recipientsOf(rows, row) : []))
    for (const { topic } of listTopicsWithin(context.resources, rows.table))
      context.announce(topic, { address })
  }

  return {
    /** Lists the members of the row with the id in the input, newest first: `{ members: [{ email, role, createdAt }] }`. */
    members:
      <List extends string, Shown>(list: List, viewMember: (member: Member<Role>) => Shown) =>
      async (call: ItemCall & { input: Page }): Promise<Record<List, Shown[]>> => {
        const order = {
          positionOf: ({ createdAt, email }: Member) => ({ at: createdAt, id: email }),
          cursorPattern: newestFirstByText.cursorPattern,
          textsOf: ({ email }: Member) => [email],
        }
        const { rows: found } = await readPage(call, order, (page) =>
          requireMembers().list(call.context.db, call.input.id, page),
        )
        return { [list]: found.map(viewMember) } as Record<List, Shown[]>
      },

    /**
     * Gives the person with an address a role, or changes the role. The address need not have an account: the person sees the row
     * after signing in. Answers the row, whether or not the address has an account. The owner keeps the relation of the owner.
     */
    invite: <TypedCall extends ItemCall>(
      map: (call: TypedCall) => Promisable<Pick<Member<Role>, 'email' | 'role'>>,
    ) =>
      markChecksInStatement(concernsOwnItem, async (call: TypedCall): Promise<View> => {
        const { db, user } = call.context
        const { email, role } = await map(call)
        const address = email.toLowerCase()
        const requirements = requirementsOf(call, rows)
        // The own address changes no membership. The condition below still requires the relation.
        const isPermitted =
          address === user.email ||
          (await requireMembers().put(db, user, call.input.id, { email: address, role }, requirements))
            .isPermitted
        const row = isPermitted ? await rows.find(db, user, call.input.id) : undefined
        if (!row || !hasRelation(row, requirements)) throw notFound(call)
        announceMember(call, row, address)
        return viewWithTag(call, row)
      }),

    /** Removes the person with an address from the row, if there is one. */
    exclude: <TypedCall extends ItemCall>(map: (call: TypedCall) => string) =>
      markChecksInStatement(concernsOwnItem, async (call: TypedCall): Promise<View> => {
        const { db, user } = call.context
        const address = map(call).toLowerCase()
        const requirements = requirementsOf(call, rows)
        // A member who removes the own address no longer sees the row.
        const rowBefore = address === user.email ? await rows.find(db, user, call.input.id) : undefined
        const { isPermitted } = await requireMembers().remove(db, user, call.input.id, address, requirements)
        const row = isPermitted ? ((await rows.find(db, user, call.input.id)) ?? rowBefore) : undefined
        if (!row) throw notFound(call)
        announceMember(call, row, address)
        return viewWithTag(call, row)
      }),

    /** Ends the access of the caller to the row that another person shares. */
    leave: <Answer = Success>({ answer }: Answering<Row, Answer> = {}) =>
      markChecksInStatement(concernsOwnItem, async (call: ItemCall): Promise<Answer> => {
        const { db, user } = call.context
        const { id } = call.input
        const row = await rows.find(db, user, id)
        const requirements = requirementsOf(call, rows)
        const { isChanged } = await requireMembers().remove(db, user, id, user.email, requirements)
        if (!row || !isChanged) throw notFound(call)
        announceMember(call, row, user.email)
        return answerOf(row, answer)
      }),
  }
}
