import type { InferContractRouterInputs } from '@orpc/contract'
import {
  appContract,
  type ClientOf,
  exportPart,
  type LiveUpdateOf,
  publicAccess,
  reading,
  resourceContract,
  topic,
} from 'tallystick-contract'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'

import { metaOf } from '../contract/meta.ts'

const Books = z.object({ books: z.array(z.string()) })
const Count = z.object({ count: z.int() })
const booksTopic = topic('books', { access: 'public', state: Books })
const bookCountTopic = topic('bookCount', { access: 'public', state: Count })
const loansTopic = topic('loans', {
  access: 'signedIn',
  state: Count,
  input: z.object({ bookId: z.string() }),
})
const presenceTopic = topic('presence', { access: 'signedIn', state: Count })

const books = resourceContract({
  topics: [booksTopic, bookCountTopic],
  procedures: {
    list: publicAccess.meta({ reads: booksTopic }).route({ method: 'GET', path: '/api/books' }).output(Books),
    count: publicAccess.meta({ reads: bookCountTopic }).output(Count),
  },
})
const loans = resourceContract({
  topics: [loansTopic],
  exports: exportPart({
    contents: ['loans'],
    shape: { loans: z.array(z.int()) },
    example: { loans: [1] },
  }),
  procedures: { count: reading.meta({ reads: loansTopic }).output(Count) },
})
const visits = { add: publicAccess.output(Count) }
/** A procedure with the name of the property of a resource. */
const robots = { procedures: publicAccess.output(z.string()), topics: publicAccess.output(z.string()) }

const contract = appContract(
  { visits, books, robots, loans },
  { order: ['loans', 'status', 'books'], topics: [presenceTopic] },
)
type Contract = typeof contract
type Client = ClientOf<Contract>

describe('appContract', () => {
  test('has the procedures of the application and of the engine by the name of the resource', () => {
    expect(contract.books).toBe(books.procedures)
    expect(contract.visits).toBe(visits)
    expect(contract.robots).toBe(robots)
    expectTypeOf<keyof Client>().toEqualTypeOf<
      | ('visits' | 'books' | 'robots' | 'loans')
      | ('status' | 'account' | 'sessions' | 'live' | 'apps' | 'tokens' | 'audit')
    >()
    expectTypeOf<Awaited<ReturnType<Client['robots']['procedures']>>>().toEqualTypeOf<string>()
  })

  test('begins with the resources in `order`, then has those of the engine', () => {
    expect(Object.keys(contract)).toEqual(
      'loans status books account sessions live apps tokens audit visits robots'.split(' '),
    )
    expect(Object.keys(appContract({ visits }))).toEqual(
      'status account sessions live apps tokens audit visits'.split(' '),
    )
  })

  test('has the topics of the resources, further topics, and the topic of the engine', () => {
    const { watches = [] } = metaOf(contract.live.watch)

    expect(watches.map(({ name }) => name)).toEqual(['books', 'bookCount', 'loans', 'presence', 'sessions'])
    expectTypeOf<LiveUpdateOf<Contract>['topic']>().toEqualTypeOf<
      'books' | 'bookCount' | 'loans' | 'presence' | 'sessions'
    >()
    expectTypeOf<Extract<LiveUpdateOf<Contract>, { topic: 'books' }>['state']>().toEqualTypeOf<
      z.output<typeof Books>
    >()
    expectTypeOf<InferContractRouterInputs<Contract>['live']['watch']['loans']>().toEqualTypeOf<
      { bookId: string } | undefined
    >()
  })

  test('has the parts of the export in the order of the resources', () => {
    const exports = exportPart({ contents: [], shape: { late: z.string() }, example: { late: '' } })
    const both = appContract({ loans, late: resourceContract({ procedures: {}, exports }) })

    expect(metaOf(both.account.export).exports).toEqual(['loans', 'late'])
    type Exported = Awaited<ReturnType<ClientOf<typeof both>['account']['export']>>
    expectTypeOf<Pick<Exported, 'loans' | 'late'>>().toEqualTypeOf<{ loans: number[]; late: string }>()
  })

  // The compiler reports each mistake: without the mistake, the comment would be an error.
  test.each<[string, () => unknown]>([
    // @ts-expect-error The name is that of a resource of the engine
    ['a resource of the engine', () => appContract({ account: visits })],
    // @ts-expect-error The name is misspelled
    ['an unknown name in its order', () => appContract({ visits }, { order: ['vists'] })],
    // @ts-expect-error The value is a topic
    ['a topic in place of a resource', () => appContract({ booksTopic })],
  ])('cannot contain %s: the compiler reports the mistake', (_, define) => {
    expect(define).toBeTypeOf('function')
  })
})
