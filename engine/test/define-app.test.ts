import { type AnyProcedure, implement, os } from '@orpc/server'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'

import { reading, signedIn, writing } from '../contract/builders.ts'
import type { Meta } from '../contract/meta.ts'
import { ById, requestSchemas, responseSchemas, RowId } from '../contract/schemas.ts'
import type { Context } from '../call/context.ts'
import { selectWith } from '../db/accounts/personal-data.ts'
import { exportPart } from '../contract/export-part.ts'
import { appContract } from '../contract/app-contract.ts'
import { resourceContract } from '../contract/resource-contract.ts'
import { defineApp, findMistakes } from '../start/define-app/define-app.ts'
import { withCaller } from '../guard/index.ts'
import { isPermitted } from '../guard/permissions.ts'
import type { Items } from '../call/items.ts'
import type { Resource } from '../app/resource.ts'
import { app } from './library/app.ts'
import { loansTopic } from './library/contract.ts'
import { ticketRows } from './tracker/db.ts'

/** Creates a procedure that reads, with metadata, at a path. */
const procedure = (meta: Meta, path: `/${string}` = '/api/books') =>
  os
    .$meta(meta)
    .route({ method: 'GET', path })
    .handler(() => 1)

/** Creates a procedure that changes an item, by default without a topic. */
const change = (meta: Meta, input: z.ZodType = ById, path: `/${string}` = '/api/books/{id}') =>
  os
    .$meta({ updates: [], ...meta })
    .route({ method: 'POST', path })
    .input(input)
    .handler(() => 1)

const needsId =
  'an action or If-Match needs the id of an item, so the input must be an object schema with the field `id`: `.input(z.object({ id: RowId, … }))`, or `.extend(ById.shape)`'
const notConstant =
  '`fixedAnswer` sends the first answer to all callers, so the procedure must be a public GET without input, limit and secrets; remove `fixedAnswer: true`'
const limitPerAccount = { name: 'books', points: 1, duration: 1, perAccount: true } as const

const items = {
  permissions: { owner: ['EDIT_LOAN'] },
  findRelation: () => Promise.resolve(undefined),
  ifMatch: { lockTag: () => Promise.resolve(undefined) },
} satisfies Items
const reader = procedure({ reads: loansTopic })

const contract = appContract({})

/** An application without resources of its own. */
const definition = {
  name: 'Books',
  version: '1.0.0',
  description: '',
  contract,
  migrationsFolder: '',
  resources: {},
}

type Mistake = [title: string, resource: Omit<Resource, 'description'>, mistake: string]

const mistakes: Mistake[] = [
  [
    'an action that no relation permits',
    { procedures: { edit: change({ action: 'REMOVE' }) }, items },
    'books.edit: no relation permits the action REMOVE; add the action to `permissions` in the items of the resource',
  ],
  [
    'an action that resembles a permitted action',
    { procedures: { edit: change({ action: 'EDIT_LAON' }) }, items },
    'books.edit: no relation permits the action EDIT_LAON; did you mean EDIT_LOAN?',
  ],
  [
    'an action of a resource without items',
    { procedures: { edit: change({ action: 'EDIT_LOAN' }) } },
    'books.edit: no relation permits the action EDIT_LOAN; add the action to `permissions` in the items of the resource',
  ],
  [
    'an action of a parent that belongs to another resource',
    {
      procedures: {
        move: change(
          { action: { name: 'EDIT_LOAN', of: 'books', id: 'projectId' } },
          z.object({ projectId: RowId }),
        ),
      },
      items,
      rows: ticketRows,
    },
    'books.move: the field projectId names a parent of the rows, but the action EDIT_LOAN belongs to books; name the resource of the parent with `of`, or no resource for the permissions of the rows themselves',
  ],
  [
    'two actions on one item',
    { procedures: { edit: change({ action: ['EDIT_LOAN', 'EDIT_LOAN'] }) }, items },
    'books.edit: two actions concern the item in `id`; declare one action, and permit it to the relations that may do both',
  ],
  [
    'a parent in the input without an action',
    {
      procedures: {
        move: change(
          { access: 'signedIn', action: 'EDIT_LOAN' },
          z.object({ id: RowId, projectId: RowId.optional() }),
        ),
      },
      items,
      rows: ticketRows,
    },
    "books.move: the input names a parent in `projectId`, but no action permits it: everybody who sees the parent could add rows. Add `{ name: 'CREATE_…', id: 'projectId' }` to `action`",
  ],
  [
    'a change of who has access without an entry in the audit trail',
    { procedures: { share: change({ grantsAccess: true }) } },
    "books.share: `sharing` changes who has access; name the entry in the audit trail: `.meta({ audit: 'projects.invite' })`",
  ],
  [
    'If-Match without an entity tag',
    { procedures: { edit: change({ ifMatch: true }) } },
    'books.edit: the resource has no entity tag for If-Match; add `ifMatch` to its items',
  ],
  ...(['POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method): Mistake => [
    `a ${method} that names no topics`,
    { procedures: { add: os.route({ method, path: '/api/books' }).handler(() => 1) } },
    `books.add: a ${method} changes data, so \`updates\` must name the topics that change, or be empty: \`.meta({ updates: [] })\`. A procedure that only reads needs \`.route({ method: 'GET', … })\``,
  ]),
  [
    'a change without a route, which is a POST',
    { procedures: { add: os.$meta<Meta>({ access: 'signedIn', scope: 'read' }).handler(() => 1) } },
    "books.add: a POST changes data, so `updates` must name the topics that change, or be empty: `.meta({ updates: [] })`. A procedure that only reads needs `.route({ method: 'GET', … })`",
  ],
  ...[
    ['`updates`', { updates: [] }],
    ['the scope `write`', { scope: 'write' }],
    ['`idempotencyKey`', { idempotencyKey: true }],
    ['the effect of the tool', { tool: { title: '', description: '', effect: 'create' } }],
  ].map(([name, meta]): Mistake => [
    `a GET that declares a change by ${name as string}`,
    { procedures: { get: procedure(meta as Meta) } },
    `books.get: a GET changes no data, but ${name as string} declares a change; write \`.route({ method: 'POST', … })\``,
  ]),
  [
    'a change that an app with the scope read can call',
    { procedures: { list: reader, edit: change({ scope: 'read', updates: [loansTopic] }) } },
    'books.edit: `updates` names topics that change, but an app needs only the scope `read`; use `writing`, `creating` or `changing`',
  ],
  [
    'a change that agents regard as a read',
    {
      procedures: {
        list: reader,
        edit: change({ updates: [loansTopic], tool: { title: '', description: '', effect: 'read' } }),
      },
    },
    "books.edit: the tool has the effect `read`, but `updates` names topics that change; write `effect: 'create'` or `effect: 'overwrite'`",
  ],
  ...[
    ['no id', z.object({ bookId: RowId })],
    ['a transformation', ById.transform(({ id }) => ({ id: id + 1 }))],
    ['a union', z.union([ById, z.object({ id: RowId, name: z.string() })])],
    ['a list', z.array(ById)],
    ['another value', ById.overwrite((input) => input)],
  ].map(([name, input]): Mistake => [
    `an action whose input is or has ${name as string}`,
    { procedures: { edit: change({ action: 'EDIT_LOAN' }, input as z.ZodType) }, items },
    `books.edit: ${needsId}`,
  ]),
  [
    'an action without an input',
    { procedures: { get: procedure({ action: 'EDIT_LOAN' }) }, items },
    `books.get: ${needsId}`,
  ],
  [
    'If-Match whose input has no id',
    { procedures: { edit: change({ ifMatch: true }, z.object({})) }, items },
    `books.edit: ${needsId}`,
  ],
  [
    'Idempotency-Key together with If-Match',
    { procedures: { edit: change({ idempotencyKey: true, ifMatch: true }) }, items },
    'books.edit: supports both `Idempotency-Key` and `If-Match`; use `creating` for a new item, or `changing` for a change of an item, which answers 412 instead of happening twice',
  ],
  [
    'a limit by account of a public procedure',
    { procedures: { add: change({ access: 'public', rateLimit: limitPerAccount }) } },
    'books.add: the limit books counts by account, but a public procedure has no caller; remove `perAccount: true`, so that the limit counts by network',
  ],
  [
    'a fixed answer with an input',
    {
      procedures: {
        get: os
          .$meta<Meta>({ access: 'public', fixedAnswer: true })
          .route({ method: 'GET', path: '/api/books' })
          .input(ById)
          .handler(() => 1),
      },
    },
    `books.get: ${notConstant}`,
  ],
  [
    'a fixed answer for a caller',
    { procedures: { get: procedure({ access: 'signedIn', fixedAnswer: true }) } },
    `books.get: ${notConstant}`,
  ],
  [
    'a fixed answer that changes data',
    {
      procedures: {
        edit: os.$meta<Meta>({ access: 'public', fixedAnswer: true, updates: [] }).handler(() => 1),
      },
    },
    `books.edit: ${notConstant}`,
  ],
  [
    'a patch for no procedure',
    {
      procedures: { list: procedure({}) },
      datastar: { patches: { lits: () => ({ selector: '', html: '', signals: {} }) } },
    },
    'books: there is a patch for lits, but no such procedure; did you mean list?',
  ],
  [
    'a topic that nobody reads',
    { procedures: { edit: change({ updates: [loansTopic] }) } },
    'The topic loans is read by 0 procedures, instead of one; declare `reads` in the procedure that lists the state',
  ],
  [
    'a topic whose name resembles a topic',
    { procedures: { list: reader, edit: change({ updates: [{ ...loansTopic, name: 'laons' }] }) } },
    'The topic laons is read by 0 procedures, instead of one; did you mean loans?',
  ],
  [
    'a topic that two procedures read',
    {
      procedures: {
        list: reader,
        find: procedure({ reads: loansTopic }, '/api/find'),
      },
    },
    'The topic loans is read by 2 procedures, instead of one',
  ],
  [
    'two procedures with one path',
    { procedures: { get: procedure({}, '/api/books/{id}'), find: procedure({}, '/api/books/{name}') } },
    'books.find and books.get answer the same requests',
  ],
  [
    'an alternative to no procedure',
    { procedures: { get: procedure({ alternative: { name: 'X', mediaType: 'application/json;x=1' } }) } },
    'books.get: no procedure has the same method and path',
  ],
  [
    'a state that needs an action',
    {
      procedures: { edit: change({ reads: loansTopic, action: 'EDIT_LOAN' }) },
      items,
    },
    'books.edit: the state of a topic cannot need the action EDIT_LOAN of an item; name the parent of the items with `of`',
  ],
  [
    'a public topic with an input',
    { procedures: { list: procedure({ reads: { ...loansTopic, access: 'public' } }) } },
    'The topic loans is public, and can have neither an input nor `watch`',
  ],
  [
    'a topic that is not declared yet in a cycle of imports',
    // The value that a cycle of imports causes.
    { procedures: { edit: change({ updates: [undefined as unknown as typeof loansTopic] }) } },
    'books.edit: a topic in `updates` is undefined; contracts must not import each other',
  ],
  [
    'two topics with one name',
    {
      procedures: {
        list: procedure({ reads: loansTopic }),
        find: procedure({ reads: { ...loansTopic } }, '/api/find'),
      },
    },
    'Two topics have the name loans',
  ],
  [
    'a topic that no client can watch',
    {
      procedures: { list: procedure({ reads: loansTopic }), watch: procedure({ watches: [] }, '/api/live') },
    },
    'The topic loans is missing in the contract, so that no client can watch it; add `topics: [loansTopic]` to its resourceContract',
  ],
  [
    'a topic with a name that is no part of a key',
    { procedures: { list: procedure({ reads: { ...loansTopic, name: 'loans of books' } }) } },
    'The name of the topic loans of books must consist of at most 31 letters, digits, `-` and `_`',
  ],
  [
    'two limits with one name',
    {
      procedures: {
        get: procedure({ rateLimit: { name: 'books', points: 1, duration: 1 } }),
        find: procedure({ rateLimit: { name: 'books', points: 2, duration: 1 } }, '/api/find'),
      },
    },
    'Two rate limits have the name books',
  ],
  [
    'a limit with the name of a limit of the service',
    { procedures: { get: procedure({ rateLimit: { name: 'codes', points: 1, duration: 1 } }) } },
    'Two rate limits have the name codes',
  ],
]

describe('defineApp', () => {
  test.each(mistakes)('finds %s', (_, resource, mistake) => {
    expect(findMistakes({ books: { description: 'Books.', ...resource } })).toEqual([mistake])
  })

  test('finds no mistake in the test application', () => {
    expect(findMistakes(app.resources)).toEqual([])
  })

  test.each([
    ['Tallystick', 'tallystick'],
    ["Ada's Library 2", 'ada-s-library-2'],
    ['<b>Lendery</b>', 'b-lendery-b'],
  ])('derives the id of %s: %s', (name, id) => {
    expect(defineApp({ ...definition, name }).id).toBe(id)
  })

  test.each(['', '図書館', '2 Books'])('finds a name that is no part of a URI: %s', (name) => {
    expect(() => defineApp({ ...definition, name })).toThrow('must begin with a letter')
  })

  test('uses the id in names of cookies, unless the application chooses another prefix', () => {
    const named = { ...definition, name: '図書館', id: 'lendery' }

    expect(defineApp(named)).toMatchObject({ id: 'lendery', cookiePrefix: 'lendery' })
    expect(defineApp({ ...named, cookiePrefix: 'auth' })).toMatchObject({
      id: 'lendery',
      cookiePrefix: 'auth',
    })
  })

  test.each(['', 'A', '1a', 'a b', 'a--b', 'a-', 'a;b'])(
    'finds an invalid id and prefix of cookies: %j',
    (id) => {
      expect(() => defineApp({ ...definition, id })).toThrow(`The id ${id} must`)
      expect(() => defineApp({ ...definition, cookiePrefix: id })).toThrow('The prefix of cookies')
    },
  )

  test('names all mistakes in one error', () => {
    const procedures = { edit: change({ action: 'EDIT_BOOK', ifMatch: true }) }
    const mistaken = {
      ...definition,
      contract: { ...contract, books: {} },
      resources: { books: { description: 'Books.', procedures } },
    }

    expect(() => defineApp(mistaken)).toThrow(
      [
        'The application has mistakes:',
        'books.edit implements another contract',
        'books.edit: no guard; use withCaller or withoutCaller',
        'books.edit: no relation permits the action EDIT_BOOK; add the action to `permissions` in the items of the resource',
        'books.edit: the resource has no entity tag for If-Match; add `ifMatch` to its items',
      ].join('\n- '),
    )
  })
})

describe('the resources of an application', () => {
  const books = { get: signedIn.route({ method: 'GET', path: '/api/books' }) }
  const loans = { get: signedIn.route({ method: 'GET', path: '/api/loans' }) }
  const define = (resources: Record<string, Resource>, declared = appContract({ books, loans })) => {
    const changed = {
      ...definition,
      contract: declared,
      resources: resources as Record<'books' | 'loans', never>,
    }
    return () => defineApp(changed)
  }
  const resourceOf = (get: AnyProcedure, others: Omit<Resource, 'procedures' | 'description'> = {}) => ({
    description: '',
    procedures: { get },
    ...others,
  })
  const implementationOf = (declared: typeof books) =>
    implement(declared)
      .$context<Context>()
      .use(withCaller)
      .get.handler(() => null)
  const both = { books: resourceOf(implementationOf(books)), loans: resourceOf(implementationOf(loans)) }

  test('are complete, and have the guard', () => {
    expect(define(both)).not.toThrow()
  })

  test.each<[string, Record<string, Resource>, string]>([
    ['a missing resource', { books: both.books }, 'No resource implements loans'],
    [
      'a misspelled resource',
      { books: both.books, laons: both.loans },
      'No resource implements loans; did you mean laons?\n- The contract has no laons; did you mean loans?',
    ],
    ['an unknown resource', { ...both, shelves: both.books }, 'The contract has no shelves'],
    [
      'a resource with the contract of another',
      { books: both.loans, loans: both.books },
      'books.get implements another contract',
    ],
    [
      'a procedure without the guard',
      {
        ...both,
        books: resourceOf(
          implement(books)
            .$context<Context>()
            .get.handler(() => null),
        ),
      },
      'books.get: no guard; use withCaller or withoutCaller',
    ],
    [
      'personal data that the export does not contain',
      {
        ...both,
        books: resourceOf(implementationOf(books), {
          personalData: { select: selectWith(() => ({}), Object) },
        }),
      },
      'books: the export has no part for the personal data',
    ],
  ])('cannot contain %s', (_, resources, mistake) => {
    expect(define(resources)).toThrow(mistake)
  })

  test('have the parts of the export that the contract has', () => {
    const exports = exportPart({ contents: [], shape: {}, example: {} })
    const declared = appContract({ books: resourceContract({ procedures: books, exports }), loans })

    expect(define(both, declared)).toThrow('books: the export needs personal data')
  })

  test('cannot replace a resource of the engine', () => {
    const app = define({ ...both, tokens: resourceOf(implementationOf(books)) })()

    expect(Object.keys(app.resources.tokens?.procedures ?? {})).toEqual(['create'])
  })
})

describe('the named schemas of an application', () => {
  const named = (value: string, id: string, registry: typeof requestSchemas | typeof responseSchemas) =>
    z.object({ [value]: z.string() }).register(registry, { id, example: { [value]: '' } })
  const define =
    (input: z.ZodType, output: z.ZodType, filter: z.ZodType = z.object({})) =>
    () => {
      const added = {
        books: {
          create: writing.meta({ updates: [] }).route({ method: 'POST', path: '/api/books' }).input(input),
        },
        loans: { get: reading.route({ method: 'GET', path: '/api/loans' }).input(filter).output(output) },
      }
      const os = implement(added).$context<Context>().use(withCaller)
      return defineApp({
        ...definition,
        contract: { ...contract, ...added },
        resources: {
          books: { description: '', procedures: { create: os.books.create.handler(() => 1) } },
          loans: { description: '', procedures: { get: os.loans.get.handler(() => ({})) } },
        },
      } as never)
    }
  const mistake = (name: string) =>
    `two schemas have the name ${name}; give one of them another \`id\` in \`.register\``

  test('have different names', () => {
    const [input, output] = [
      named('a', 'NamedInput', requestSchemas),
      named('b', 'NamedOutput', responseSchemas),
    ]

    expect(define(input, z.object({ list: z.array(output) }))).not.toThrow()
  })

  test('can be used by several procedures', () => {
    const shared = named('a', 'SharedSchema', responseSchemas)

    expect(define(z.object({ shared: shared.optional() }), z.object({ list: z.array(shared) }))).not.toThrow()
  })

  test('cannot have the name of another schema, within schemas, and between requests and answers', () => {
    const [first, second] = [named('a', 'Twice', requestSchemas), named('b', 'Twice', responseSchemas)]

    expect(define(first, z.object({ list: z.array(second).optional() }))).toThrow(
      `books.create and loans.get: ${mistake('Twice')}`,
    )
  })

  test('cannot have the name of a schema of the engine', () => {
    expect(define(z.object({}), named('a', 'SessionInfo', responseSchemas))).toThrow(mistake('SessionInfo'))
  })

  test('cannot have the name of another schema if the procedures extend both schemas', () => {
    const [first, second] = [named('a', 'Extended', requestSchemas), named('b', 'Extended', requestSchemas)]

    const extended = [first, second].map((schema) => schema.extend({ id: RowId }))

    expect(define(extended[0] ?? first, z.object({}), extended[1])).toThrow(mistake('Extended'))
  })

  test('are compared within one application', () => {
    const first = named('a', 'OfTwoApplications', responseSchemas)
    const second = named('b', 'OfTwoApplications', responseSchemas)

    expect(define(z.object({}), first)).not.toThrow()
    expect(define(z.object({}), second)).not.toThrow()
  })
})

describe('the authorization table', () => {
  test('permits no unknown action', () => {
    const { permissions = {} } = app.resources.shelves?.items ?? {}

    expect(isPermitted(permissions, 'owner', 'UNKNOWN_ACTION')).toBe(false)
  })
})
