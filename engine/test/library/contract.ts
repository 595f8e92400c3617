import * as z from 'zod'
import {
  administrativeErrors,
  appContract,
  ById,
  changing,
  type ClientOf,
  creating,
  exportPart,
  MAX_EMAIL,
  Page,
  publicAccess,
  reading,
  requestSchemas,
  resourceContract,
  responseSchemas,
  RowId,
  Success,
  text,
  Timestamp,
  topic,
} from 'tallystick-contract'

// Public: all callers read and change the number of visits.

const Visits = z.object({ count: z.int() }).register(responseSchemas, { id: 'Visits', example: { count: 7 } })

export const visitsTopic = topic('visits', { access: 'public', state: Visits })

const visits = resourceContract({
  topics: [visitsTopic],
  procedures: {
    get: publicAccess
      .meta({ reads: visitsTopic })
      .route({ method: 'GET', path: '/api/visits', summary: 'Read the number of visits' })
      .output(Visits),
    add: publicAccess
      .meta({ rateLimit: { name: 'visits', points: 3, duration: 60 }, updates: [visitsTopic] })
      .route({ method: 'POST', path: '/api/visits/add', summary: 'Count a visit' })
      .output(Visits),
  },
})

// For administrators: all callers read books, administrators change books. The ids are texts.

const BookId = z.object({ id: z.string().regex(/^[a-z0-9-]{1,60}$/, 'Must have lower-case letters') })
const NewBook = z.object({ title: text({ min: 1, max: 200 }), copies: z.int().min(0).max(1000) })
const book = { id: 'dune', title: 'Dune', copies: 2, lent: 1, createdAt: 1767261600 }
const Book = BookId.extend({ ...NewBook.shape, lent: z.int(), createdAt: Timestamp }).register(
  responseSchemas,
  { id: 'Book', example: book },
)
export type Book = z.infer<typeof Book>
const BookList = z
  .object({ books: z.array(Book) })
  .register(responseSchemas, { id: 'BookList', example: { books: [book] } })

export const booksTopic = topic('books', { access: 'public', state: BookList })

const noBook = { NOT_FOUND: { status: 404, message: 'There is no such book' } }
const forAdministrators = { administratorsOnly: true, noImpersonation: true } as const

export const books = resourceContract({
  topics: [booksTopic],
  procedures: {
    list: publicAccess
      .meta({
        reads: booksTopic,
        tool: { title: 'List books', description: 'Lists the books, newest first.', effect: 'read' },
      })
      .route({ method: 'GET', path: '/api/books', summary: 'List the books, newest first' })
      .input(Page.optional())
      .output(BookList),
    get: publicAccess
      .meta({ etag: true })
      .errors(noBook)
      .route({ method: 'GET', path: '/api/books/{id}', summary: 'Read a book' })
      .input(BookId)
      .output(Book),
    create: creating([booksTopic])
      .meta(forAdministrators)
      .errors({ ...administrativeErrors, ID_TAKEN: { status: 409, message: 'Another book has this id' } })
      .route({ method: 'POST', path: '/api/books', summary: 'Add a book' })
      .input(BookId.extend(NewBook.shape))
      .output(Book),
    update: changing([booksTopic])
      .meta({ ...forAdministrators, etag: true })
      .errors({ ...administrativeErrors, ...noBook })
      .route({ method: 'PATCH', path: '/api/books/{id}', summary: 'Change a book' })
      .input(BookId.extend(NewBook.partial().shape))
      .output(Book),
  },
})

// Owned: the loans of a person. A loan and its return change two topics.

const Remark = text({ max: 2000 })
const loan = { id: 7, bookId: 'dune', title: 'Dune', remark: '', createdAt: 1767261600 }
const Loan = z
  .object({
    id: z.int(),
    bookId: z.string(),
    title: z.string(),
    remark: z.string(),
    createdAt: Timestamp,
  })
  .register(responseSchemas, { id: 'Loan', example: loan })
export type Loan = z.infer<typeof Loan>
const LoanList = z
  .object({ loans: z.array(Loan) })
  .register(responseSchemas, { id: 'LoanList', example: { loans: [loan] } })
const LoanFilter = z.object({ bookId: z.string().optional() })

export const loansTopic = topic('loans', { access: 'signedIn', state: LoanList, input: LoanFilter })

const noLoan = { NOT_FOUND: { status: 404, message: 'There is no such loan' } }

const loansExport = exportPart({
  contents: ['loans'],
  shape: { loans: z.array(Loan) },
  example: { loans: [] },
})

export const loans = resourceContract({
  topics: [loansTopic],
  exports: loansExport,
  procedures: {
    list: reading
      .meta({
        reads: loansTopic,
        tool: { title: 'List loans', description: 'Lists the loans of the person.', effect: 'read' },
      })
      .route({ method: 'GET', path: '/api/loans', summary: 'List your loans, newest first' })
      .input(LoanFilter.extend(Page.shape).optional())
      .output(LoanList),
    get: reading
      .meta({ etag: true })
      .errors(noLoan)
      .route({ method: 'GET', path: '/api/loans/{id}', summary: 'Read a loan' })
      .input(ById)
      .output(Loan),
    create: creating([loansTopic, booksTopic])
      .meta({
        etag: true,
        tool: { title: 'Borrow a book', description: 'Borrows a book for the person.', effect: 'create' },
      })
      .errors({
        NO_BOOK: noBook.NOT_FOUND,
        NO_COPY: { status: 409, message: 'All copies are lent', data: z.object({ copies: z.int() }) },
      })
      .route({ method: 'POST', path: '/api/loans', summary: 'Borrow a book' })
      .input(z.object({ bookId: z.string(), remark: Remark.default('') }))
      .output(Loan),
    update: changing([loansTopic])
      .meta({ action: 'EDIT_LOAN', etag: true })
      .errors(noLoan)
      .route({ method: 'PATCH', path: '/api/loans/{id}', summary: 'Change the remark of a loan' })
      .input(z.object({ id: RowId, remark: Remark }))
      .output(Loan),
    return: changing([loansTopic, booksTopic])
      .errors(noLoan)
      .route({ method: 'DELETE', path: '/api/loans/{id}', summary: 'Return a book' })
      .input(ById)
      .output(Success),
  },
})

// Shared with roles: the owner of a shelf shares the shelf with editors and readers.

const shelfName = text({ min: 1, max: 100 })
const Share = z.object({
  email: z.string().trim().toLowerCase().check(z.email()).max(MAX_EMAIL),
  role: z.enum(['editor', 'reader']),
})
const ShareShelf = z
  .object(Share.shape)
  .register(requestSchemas, { id: 'ShareShelf', example: { email: 'bob@example.com', role: 'reader' } })
const shelf = { id: 3, name: 'To read', isOwn: true, can: { RENAME_SHELF: true, SHARE_SHELF: true } }
const Shelf = z
  .object({
    id: z.int(),
    name: z.string(),
    isOwn: z.boolean(),
    can: z.object({ RENAME_SHELF: z.boolean(), SHARE_SHELF: z.boolean() }),
  })
  .register(responseSchemas, { id: 'Shelf', example: shelf })
export type Shelf = z.infer<typeof Shelf>
const ShelfList = z
  .object({ shelves: z.array(Shelf) })
  .register(responseSchemas, { id: 'ShelfList', example: { shelves: [shelf] } })

export const shelvesTopic = topic('shelves', { access: 'signedIn', state: ShelfList })

const shelfErrors = {
  NOT_FOUND: { status: 404, message: 'There is no such shelf' },
  FORBIDDEN: { status: 403, message: 'You may not do this to the shelf' },
}

const changingShelf = (action: keyof Shelf['can']) =>
  changing([shelvesTopic]).meta({ action, etag: true }).errors(shelfErrors)

const shelvesExport = exportPart({
  contents: ['shelves'],
  shape: { shelves: z.array(Shelf) },
  example: { shelves: [] },
})

export const shelves = resourceContract({
  topics: [shelvesTopic],
  exports: shelvesExport,
  procedures: {
    list: reading
      .meta({ reads: shelvesTopic })
      .route({ method: 'GET', path: '/api/shelves', summary: 'List your shelves and those shared with you' })
      .input(Page.optional())
      .output(ShelfList),
    create: creating([shelvesTopic])
      .meta({ etag: true })
      .route({ method: 'POST', path: '/api/shelves', summary: 'Add a shelf' })
      .input(z.object({ name: shelfName }))
      .output(Shelf),
    rename: changingShelf('RENAME_SHELF')
      .route({ method: 'PATCH', path: '/api/shelves/{id}', summary: 'Rename a shelf' })
      .input(z.object({ id: RowId, name: shelfName }))
      .output(Shelf),
    members: reading
      .meta({ action: 'SHARE_SHELF' })
      .errors(shelfErrors)
      .route({ method: 'GET', path: '/api/shelves/{id}/members', summary: 'List the people with access' })
      .input(ById.extend(Page.shape))
      .output(z.object({ members: z.array(Share) })),
    share: changingShelf('SHARE_SHELF')
      .meta({ noImpersonation: true })
      .route({ method: 'POST', path: '/api/shelves/{id}/share', summary: 'Share a shelf with an address' })
      .input(ShareShelf.extend(ById.shape))
      .output(Shelf),
    unshare: changingShelf('SHARE_SHELF')
      .meta({ noImpersonation: true })
      .route({ method: 'POST', path: '/api/shelves/{id}/unshare', summary: 'End the share of an address' })
      .input(ShareShelf.pick({ email: true }).extend(ById.shape))
      .output(Shelf),
  },
})

// The application.

export const contract = appContract({ visits, books, loans, shelves })

export type Client = ClientOf<typeof contract>
