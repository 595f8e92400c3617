import { inTransaction, resource, toUnixSeconds } from 'tallystick'

import { type Loan, loans as contract } from './contract.ts'
import { countLoans, loanRows, lockBook } from './db.ts'

export const loans = resource(contract, loanRows, {
  description: 'The loans of a person.',
  permissions: { owner: ['EDIT_LOAN'] },
  view: ({ id, bookId, title, remark, createdAt }): Loan => ({
    id,
    bookId,
    title,
    remark,
    createdAt: toUnixSeconds(createdAt),
  }),
  procedures: (os, { page, get, insert, update, remove }) => ({
    list: os.list.handler(page('loans')),
    get: os.get.handler(get()),
    create: os.create.handler(
      inTransaction(
        insert(async ({ context: { db }, input, errors }) => {
          const book = await lockBook(db, input.bookId)
          if (!book) throw errors.NO_BOOK()
          const { copies } = book
          if ((await countLoans(db, input.bookId)) >= copies) throw errors.NO_COPY({ data: { copies } })
          return input
        }),
      ),
    ),
    update: os.update.handler(update(({ input }) => input)),
    return: os.return.handler(remove()),
  }),
})
