import { implement } from '@orpc/server'
import { selectWith } from 'tallystick/db'
import {
  type Context,
  newestFirst,
  type Order,
  readPage,
  type Reply,
  type Resource,
  toUnixSeconds,
  versionTag,
  withCaller,
} from 'tallystick'

import { contract } from './contract.ts'
import * as query from './db.ts'

const os = implement(contract.loans).$context<Context>().use(withCaller)

const order: Order<ListedLoan> = { ...newestFirst, textsOf: ({ title, remark }) => [title, remark] }

const procedures = os.router({
  list: os.list.handler(async (call) => {
    const { db, user } = call.context
    const { rows } = await readPage(call, order, (page) =>
      query.listLoans(db, user.id, page, call.input?.bookId),
    )
    return { loans: rows.map(view) }
  }),

  get: os.get.handler(async ({ context: { db, user, reply }, input: { id }, errors }) => {
    const loan = await query.findLoan(db, user.id, id)
    if (!loan) throw errors.NOT_FOUND()
    return viewWithETag(reply, loan)
  }),

  create: os.create.handler(async ({ context: { db, user, reply }, input, errors }) => {
    const result = await query.insertLoan(db, user.id, input.bookId, input.remark)
    if (result.loan) return viewWithETag(reply, result.loan)
    if (result.refusal === 'noBook') throw errors.NO_BOOK()
    throw errors.NO_COPY({ data: { copies: result.copies } })
  }),

  update: os.update.handler(async ({ context, input: { id, remark }, errors }) => {
    const { db, user, reply, acceptedVersions } = context
    const loan = await query.updateLoan(db, user.id, id, remark, acceptedVersions)
    if (!loan) throw acceptedVersions ? errors.PRECONDITION_FAILED() : errors.NOT_FOUND()
    return viewWithETag(reply, loan)
  }),

  return: os.return.handler(async ({ context: { db, user, acceptedVersions }, input, errors }) => {
    if (!(await query.removeLoan(db, user.id, input.id, acceptedVersions)))
      throw acceptedVersions ? errors.PRECONDITION_FAILED() : errors.NOT_FOUND()
    return { success: true }
  }),
})

export const loans = {
  description: 'The loans of a person.',
  procedures,
  items: {
    permissions: { owner: ['EDIT_LOAN'] },
    findRelation: async (db, user, id: number) =>
      (await query.findLoan(db, user.id, id)) && { names: ['owner'], recipients: [{ person: user.id }] },
    ifMatch: {
      by: 'statement',
      findTag: async (db, user, id: number) => {
        const loan = await query.findLoan(db, user.id, id)
        return loan && versionTag(loan)
      },
    },
  },
  personalData: {
    select: selectWith(query.exportLoans, ({ loans }) => ({ loans: loans.map(view) })),
  },
} satisfies Resource

type ListedLoan = Omit<query.LoanRow, 'version'>

const view = ({ id, bookId, title, remark, createdAt }: ListedLoan) => ({
  id,
  bookId,
  title,
  remark,
  createdAt: toUnixSeconds(createdAt),
})

function viewWithETag(reply: Reply, loan: query.LoanRow) {
  reply.set('etag', versionTag(loan))
  return view(loan)
}
