import { type AnyProcedure, implement, os } from '@orpc/server'
import { describe, expect, test } from 'vitest'

import { tasksTopic } from '../contract/tasks.ts'
import { signedIn } from '../engine/contract/builders.ts'
import type { Meta } from '../engine/contract/meta.ts'
import type { Context } from '../engine/context.ts'
import { selectWith } from '../engine/db/personal-data.ts'
import { engineContract } from '../engine/contract/engine.ts'
import { app } from '../src/app.ts'
import { defineApp, findMistakes } from '../engine/define-app.ts'
import { withCaller } from '../engine/guard/index.ts'
import { isPermitted } from '../engine/guard/permissions.ts'
import { notes } from '../src/notes.ts'
import { tasks } from '../src/tasks.ts'
import type { Resource } from '../engine/resource.ts'

/** Creates a procedure with metadata, at a path. */
const procedure = (meta: Meta, path: `/${string}` = '/api/books') =>
  os
    .$meta(meta)
    .route({ method: 'GET', path })
    .handler(() => 1)

const { items } = tasks

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
    { procedures: { edit: procedure({ action: 'EDIT_TASK' }) } },
    'books.edit: no relation permits the action EDIT_TASK',
  ],
  [
    'If-Match without an entity tag',
    { procedures: { edit: procedure({ ifMatch: true }) } },
    'books.edit: the resource has no entity tag for If-Match',
  ],
  [
    'a patch for no procedure',
    { procedures: {}, datastar: { patches: { list: () => ({ selector: '', html: '', signals: {} }) } } },
    'books: there is a patch for list, but no such procedure',
  ],
  [
    'a topic that nobody reads',
    { procedures: { edit: procedure({ updates: [tasksTopic] }) } },
    'The topic tasks is read by 0 procedures, instead of one',
  ],
  [
    'a topic that two procedures read',
    {
      procedures: {
        list: procedure({ reads: tasksTopic, updates: [tasksTopic] }),
        find: procedure({ reads: tasksTopic }, '/api/find'),
      },
    },
    'The topic tasks is read by 2 procedures, instead of one',
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
      procedures: { edit: procedure({ action: 'EDIT_TASK', ifMatch: true }) },
      items: { ...items, permissions: { owner: ['EDIT_TASK'], reader: [] } },
    },
    'books.edit: a statement can check If-Match only if the owner is the only relation',
  ],
  [
    'a state that needs an action',
    { procedures: { list: procedure({ reads: tasksTopic, action: 'EDIT_TASK' }) }, items },
    'books.list: the state of a topic cannot need the action EDIT_TASK',
  ],
  [
    'a public topic with an input',
    { procedures: { list: procedure({ reads: { ...tasksTopic, access: 'public' } }) } },
    'The topic tasks is public, and can have neither an input nor `watch`',
  ],
  [
    'a topic that is not declared yet in a cycle of imports',
    // The value that a cycle of imports causes.
    { procedures: { edit: procedure({ updates: [undefined as unknown as typeof tasksTopic] }) } },
    'books.edit: a topic in `updates` is undefined; contracts must not import each other',
  ],
  [
    'two topics with one name',
    {
      procedures: {
        list: procedure({ reads: tasksTopic }),
        find: procedure({ reads: { ...tasksTopic } }, '/api/find'),
      },
    },
    'Two topics have the name tasks',
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

  test('finds no mistake in the service', () => {
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
    expect(app.cookiePrefix).toBe('better-auth')
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
    expect(isPermitted(notes.items.permissions, 'author', 'UNKNOWN_ACTION')).toBe(false)
  })
})
