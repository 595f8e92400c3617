import type { Cases } from 'tallystick-dev/testing/laws'

import type { Client, contract } from './contract.ts'

/** Adds a book, and lends a copy of the book. */
async function addBook({ administrator }: { administrator: Client }, copies: number) {
  const { id } = await administrator.books.create({ id: crypto.randomUUID(), title: 'A book', copies })
  return id
}

async function prepare(people: Record<'ada' | 'bob' | 'administrator', Client>, text: string) {
  const { ada } = people
  const bookId = await addBook(people, 2)
  const { id: loanId } = await ada.loans.create({ bookId, remark: text })
  const { id: shelfId } = await ada.shelves.create({ name: text })
  await ada.shelves.share({ id: shelfId, email: 'x@example.com', role: 'reader' })
  await ada.shelves.share({ id: shelfId, email: 'y@example.com', role: 'reader' })
  return { bookId, loanId, shelfId, newBook: { id: crypto.randomUUID(), title: 'New', copies: 1 } }
}

interface Scene {
  ada: Client
  bob: Client
  fixture: Awaited<ReturnType<typeof prepare>>
}

/** Calls as Bob, who reads the shelf. */
const asReader =
  (call: (bob: Client, fixture: Scene['fixture']) => Promise<unknown>) =>
  async ({ ada, bob, fixture }: Scene) => {
    const { email } = await bob.account.get()
    await ada.shelves.share({ id: fixture.shelfId, email, role: 'reader' })
    return call(bob, fixture)
  }

export const cases: Cases<typeof contract, Awaited<ReturnType<typeof prepare>>> = {
  prepare,
  calls: {
    'visits.get': ({ visits }) => visits.get(),
    'visits.add': ({ visits }) => visits.add(),
    'books.list': ({ books }) => books.list(),
    'books.get': ({ books }, { bookId }) => books.get({ id: bookId }),
    'books.create': ({ books }, { newBook }) => books.create(newBook),
    'books.update': ({ books }, { bookId }) => books.update({ id: bookId, title: 'Changed', copies: 3 }),
    'loans.list': [({ loans }) => loans.list(), ({ loans }, { bookId }) => loans.list({ bookId })],
    'loans.get': ({ loans }, { loanId }) => loans.get({ id: loanId }),
    'loans.create': ({ loans }, { bookId }) => loans.create({ bookId, remark: 'A remark' }),
    'loans.update': ({ loans }, { loanId }) => loans.update({ id: loanId, remark: 'Changed' }),
    'loans.return': ({ loans }, { loanId }) => loans.return({ id: loanId }),
    'shelves.list': ({ shelves }) => shelves.list(),
    'shelves.create': ({ shelves }) => shelves.create({ name: 'Another' }),
    'shelves.rename': ({ shelves }, { shelfId }) => shelves.rename({ id: shelfId, name: 'Renamed' }),
    'shelves.members': ({ shelves }, { shelfId }) => shelves.members({ id: shelfId }),
    'shelves.share': ({ shelves }, { shelfId }) =>
      shelves.share({ id: shelfId, email: 'x@example.com', role: 'reader' }),
    'shelves.unshare': ({ shelves }, { shelfId }) => shelves.unshare({ id: shelfId, email: 'x@example.com' }),
  },
  shared: {
    'visits.get': { count: 'All callers read and change the number of visits.' },
    'books.list': { 'books.*.lent': 'All callers see how many copies are lent.' },
    'books.get': { lent: 'As in the list.' },
  },
  relations: {
    'a shared shelf': {
      begin: async ({ ada, bob, fixture: { shelfId } }) =>
        ada.shelves.share({ id: shelfId, email: (await bob.account.get()).email, role: 'editor' }),
      end: async ({ ada, bob, fixture: { shelfId } }) =>
        ada.shelves.unshare({ id: shelfId, email: (await bob.account.get()).email }),
    },
  },
  forbidden: {
    'shelves.rename': asReader((bob, { shelfId }) => bob.shelves.rename({ id: shelfId, name: 'Renamed' })),
    'shelves.members': asReader((bob, { shelfId }) => bob.shelves.members({ id: shelfId })),
  },
  errors: {
    'books.get NOT_FOUND': ({ ada }) => ada.books.get({ id: 'none' }),
    'books.create ID_TAKEN': ({ administrator, fixture }) =>
      administrator.books.create({ ...fixture.newBook, id: fixture.bookId }),
    'books.update NOT_FOUND': ({ administrator }) => administrator.books.update({ id: 'none' }),
    'loans.get NOT_FOUND': ({ bob, fixture }) => bob.loans.get({ id: fixture.loanId }),
    'loans.create NO_BOOK': ({ ada }) => ada.loans.create({ bookId: 'none' }),
    'loans.create NO_COPY': async ({ ada, administrator }) =>
      ada.loans.create({ bookId: await addBook({ administrator }, 0) }),
    'loans.update NOT_FOUND': ({ bob, fixture }) => bob.loans.update({ id: fixture.loanId, remark: '' }),
    'loans.return NOT_FOUND': ({ bob, fixture }) => bob.loans.return({ id: fixture.loanId }),
    'shelves.rename NOT_FOUND': ({ ada }) => ada.shelves.rename({ id: 0, name: 'Renamed' }),
    'shelves.members NOT_FOUND': ({ ada }) => ada.shelves.members({ id: 0 }),
    'shelves.share NOT_FOUND': ({ ada }) =>
      ada.shelves.share({ id: 0, email: 'x@example.com', role: 'reader' }),
    'shelves.unshare NOT_FOUND': ({ ada }) => ada.shelves.unshare({ id: 0, email: 'x@example.com' }),
  },
}
