import { expect, test } from 'vitest'

import { compile } from './fixtures/compile.ts'

const imports = `
import { type Context, defineApp, withCaller } from 'tallystick'
import { createRpcClient } from 'tallystick-contract'
import type { InferContractRouterOutputs } from '@orpc/contract'
import { implement } from '@orpc/server'
import { app } from './app.ts'
import { books } from './books.ts'
import { contract, type Shelf } from './contract.ts'
import * as query from './db.ts'
import { loans } from './loans.ts'
import { shelves } from './shelves.ts'
import { visits } from './visits.ts'
`

/** Mistakes in the library (engine/test/library/), each with the place and the first line that the compiler reports. */
const mistakes: Record<string, { code: string; at: string; message: RegExp }> = {
  'a wrong field in a view': {
    code: `
      type Visits = InferContractRouterOutputs<typeof contract>['visits']['get']
      export const view = (row: { count: number }): Visits => ({ cuont: row.count })`,
    at: 'cuont',
    message:
      /^Object literal may only specify known properties, but 'cuont' does not exist in type '\{ count: number; \}'/,
  },
  'a missing resource': {
    code: `
      const { router: _, ...definition } = app
      export const wrong = defineApp({ ...definition, contract, resources: { visits, books, loans } })`,
    at: 'resources',
    message: /^Property 'shelves' is missing in type /,
  },
  'an undeclared topic': {
    code: `
      const client = createRpcClient<typeof contract>('http://localhost')
      export const updates = client.live.watch({ topics: ['shelfs'] })`,
    at: "'shelfs'",
    message:
      /^Type '"shelfs"' is not assignable to type '"sessions" \| "visits" \| "books" \| "loans" \| "shelves"'/,
  },
  'a misspelled permission': {
    code: `
      export const permissions: Record<'owner' | 'reader', readonly (keyof Shelf['can'])[]> = {
        owner: ['RENAME_SHELF', 'SHARE_SHELVE'],
        reader: [],
      }`,
    at: "'SHARE_SHELVE'",
    message:
      /^Type '"SHARE_SHELVE"' is not assignable to type '"RENAME_SHELF" \| "SHARE_SHELF"'. Did you mean '"SHARE_SHELF"'\?$/,
  },
  'a query without an owner': {
    code: `
      const os = implement(contract.loans).$context<Context>().use(withCaller)
      export const returned = os.return.handler(async ({ context: { db }, input: { id }, errors }) => {
        if (!(await query.loanRows.remove(db, id))) throw errors.NOT_FOUND()
        return { success: true }
      })`,
    at: 'remove',
    message: /^Expected 3-4 arguments, but got 2\.$/,
  },
}

const fileOf = (title: string) => `engine/test/library/${title.replaceAll(' ', '-')}.ts`
const errors = compile(
  Object.fromEntries(Object.entries(mistakes).map(([title, { code }]) => [fileOf(title), imports + code])),
)

test.each(Object.entries(mistakes))('the compiler reports %s at its place', (title, { at, message }) => {
  const found = errors.get(fileOf(title)) ?? []

  expect(found[0]?.message).toMatch(message)
  expect(found[0]?.at).toBe(at)
  expect(found).toHaveLength(1)
})
