import { type AnyProcedure, implement, os } from '@orpc/server'
import { describe, expect, test } from 'vitest'

import { signedIn } from '../contract/builders.ts'
import type { Meta } from '../contract/meta.ts'
import type { Context } from '../context.ts'
import { selectWith } from '../db/personal-data.ts'
import { engineContract } from '../contract/engine.ts'
import { defineApp, findMistakes } from '../define-app.ts'
import { withCaller } from '../guard/index.ts'
import { isPermitted } from '../guard/permissions.ts'
import type { Resource } from '../resource.ts'
import { app } from './library/app.ts'
import { loansTopic } from './library/contract.ts'
import { loans as libraryLoans } from './library/loans.ts'

/** Creates a procedure with metadata, at a path. */
const procedure = (meta: Meta, path: `/${string}` = '/api/books') =>
  os
    .$meta(meta)
    .route({ method: 'GET', path })
    .handler(() => 1)

const { items } = libraryLoans

const contract = engineContract({ topics: [], exportParts: {} })

/** An application without resources of its own. */
const definition = {
  name: 'Books',
  version: '1.0.0',
  description: '',
  contract,
  exportParts: {},
  migrationsFolder: '',
  resources: {},
}

const mistakes: [string, Omit<Resource, 'description'>, string][] = [
  [
    'an action that no relation permits',
    { procedures: { edit: procedure({ action: 'EDIT_BOOK' }) }, items },
    'books.edit: no relation permits the action EDIT_BOOK',
  ],
  [
    'an action of a resource without items',
    { procedures: { edit: procedure({ action: 'EDIT_LOAN' }) } },
    'books.edit: no relation permits the action EDIT_LOAN',
  ],
  [
    'If-Match without an entity tag',
    { procedures: { edit: procedure({ ifMatch: true }) } },
    'books.edit: the resource has no entity tag for If-Match',
  ],
  [
    'a change that names no topics, in a resource with a topic',
    {
      procedures: {
        list: procedure({ reads: loansTopic }),
        add: procedure({ scope: 'write' }, '/api/books/add'),
      },
    },
    'books.add: `updates` must name the topics that change, or be empty',
  ],
  [
    'a patch for no procedure',
    { procedures: {}, datastar: { patches: { list: () => ({ selector: '', html: '', signals: {} }) } } },
    'books: there is a patch for list, but no such procedure',
  ],
  [
    'a topic that nobody reads',
    { procedures: { edit: procedure({ updates: [loansTopic] }) } },
    'The topic loans is read by 0 procedures, instead of one',
  ],
  [
    'a topic that two procedures read',
    {
      procedures: {
        list: procedure({ reads: loansTopic, updates: [loansTopic] }),
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
    'a statement that checks If-Match for several relations',
    {
      procedures: { edit: procedure({ action: 'EDIT_LOAN', ifMatch: true }) },
      items: { ...items, permissions: { owner: ['EDIT_LOAN'], reader: [] } },
    },
    'books.edit: a statement can check If-Match only if the owner is the only relation',
  ],
  [
    'a state that needs an action',
    { procedures: { list: procedure({ reads: loansTopic, action: 'EDIT_LOAN' }) }, items },
    'books.list: the state of a topic cannot need the action EDIT_LOAN',
  ],
  [
    'a public topic with an input',
    { procedures: { list: procedure({ reads: { ...loansTopic, access: 'public' } }) } },
    'The topic loans is public, and can have neither an input nor `watch`',
  ],
  [
    'a topic that is not declared yet in a cycle of imports',
    // The value that a cycle of imports causes.
    { procedures: { edit: procedure({ updates: [undefined as unknown as typeof loansTopic] }) } },
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
    'The topic loans is missing in `topics` of engineContract, so that no client can watch it; add `topics: [..., loansTopic]`',
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
    const procedures = { edit: procedure({ action: 'EDIT_BOOK', ifMatch: true }) }
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
        'books.edit: no relation permits the action EDIT_BOOK',
        'books.edit: the resource has no entity tag for If-Match',
      ].join('\n- '),
    )
  })
})

describe('the resources of an application', () => {
  const books = { get: signedIn.route({ method: 'GET', path: '/api/books' }) }
  const loans = { get: signedIn.route({ method: 'GET', path: '/api/loans' }) }
  const define = (resources: Record<string, Resource>, exportParts = {}) => {
    const changed = {
      ...definition,
      contract: { ...contract, books, loans },
      exportParts,
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
    expect(define(both, { books: {} })).toThrow('The contract exports no parts, and exportParts has books')
    expect(define(both, { books: {} })).toThrow('books: the export needs personal data')
  })

  test('cannot replace a resource of the engine', () => {
    const app = define({ ...both, tokens: resourceOf(implementationOf(books)) })()

    expect(Object.keys(app.resources.tokens?.procedures ?? {})).toEqual(['create'])
  })
})

describe('the authorization table', () => {
  test('permits no unknown action', () => {
    const { permissions = {} } = app.resources.shelves?.items ?? {}

    expect(isPermitted(permissions, 'owner', 'UNKNOWN_ACTION')).toBe(false)
  })
})
