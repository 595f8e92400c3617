import { createRouterClient, implement, os, Procedure } from '@orpc/server'
import { sql } from 'drizzle-orm'
import type { Meta } from 'tallystick-contract'
import { type Person, selectWith } from 'tallystick/db'
import { type Context, withoutCaller } from 'tallystick'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'

import { createContext } from '../guard/authentication.ts'
import type { App } from '../app/resource.ts'
import { consentHtml, listUnnamedResources } from '../dev/testing/laws/consent.ts'
import {
  findUnexported,
  listEmptyParts,
  listTablesAfterDeletion,
  listTablesThatKeepParents,
  listTablesWithoutCascade,
  listTablesWithoutRows,
  readPages,
} from '../dev/testing/laws/data.ts'
import { listDeclaredErrors } from '../dev/testing/laws/errors.ts'
import {
  type Declared,
  listGuardedFixedAnswers,
  listOwnProcedures,
  listUnguarded,
  listUnsafeChanges,
  listUnscoped,
  proceduresOf,
} from '../dev/testing/laws/procedures.ts'
import { start } from '../dev/testing/laws/running.ts'
import { createScene, createWorlds } from '../dev/testing/laws/worlds.ts'
import { app } from './library/app.ts'
import { cases } from './library/cases.ts'
import { contract } from './library/contract.ts'
import * as query from './library/db.ts'
import { app as tracker } from './tracker/app.ts'

// Each law of tallystick/testing/laws on a deliberately broken application.

const running = await start(app)
const { db } = running.services
afterAll(() => running.close())

const client = (router: App['router']) =>
  createRouterClient(router, { context: createContext(running.services, {}) })

const declaredWith = (name: string): Declared => {
  const found = proceduresOf(app.router).find((declared) => declared.name === name)
  if (!found) throw new Error(`The application has no procedure ${name}`)
  return found
}

/** Creates a scene of an application with other procedures or other personal data, on the same database. */
function breakApp({
  router = {},
  personalData = app.personalData,
}: Partial<Pick<App, 'router' | 'personalData'>>) {
  const broken = { ...app, router: { ...app.router, ...router }, personalData }
  const services = { ...running.services, app: broken }
  const inProcess = (headers: Record<string, string>) =>
    createRouterClient<App['router'], object>(broken.router, {
      context: (call: { headers?: Record<string, string>; reply?: Map<string, string> }) =>
        createContext(services, { ...headers, ...call.headers }, call.reply ? { reply: call.reply } : {}),
    }) as unknown as ReturnType<typeof running.client>
  return createWorlds({ ...running, app: broken, services, client: inProcess }, cases, () =>
    Promise.resolve(0),
  )
}

const createSceneOf = async (...parts: Parameters<typeof breakApp>) => createScene(await breakApp(...parts))

type Handler = ConstructorParameters<
  typeof Procedure<Context, Context, never, never, never, Meta>
>[0]['handler']

/** Replaces the handler of a procedure. */
const withHandler = (resource: 'loans' | 'books', name: string, handler: Handler) => {
  const procedures: App['router'][string] = app.router[resource]
  const definition = procedures[name]?.['~orpc']
  if (!definition) throw new Error(`There is no procedure ${resource}.${name}`)
  return { router: { [resource]: { ...procedures, [name]: new Procedure({ ...definition, handler }) } } }
}

describe('the guard', () => {
  test('the check finds a procedure without the guard', async () => {
    const { list } = implement(contract).$context<Context>().loans
    const broken = { loans: { list: list.handler(() => ({ loans: [] })) } }

    expect(await listUnguarded(broken, client(broken))).toEqual(['loans.list'])
  })

  test('requires a session if the contract does, even for a procedure that is implemented as public', async () => {
    const account = { id: '', name: '', email: '', emailVerified: true }
    const { get } = implement(contract).$context<Context>().use(withoutCaller).account
    const publicByMistake = { account: { get: get.handler(() => account) } }

    expect(await listUnguarded(publicByMistake, client(publicByMistake))).toEqual([])
  })

  test('the check finds a procedure that accepts a token without its scope', async () => {
    const { list } = implement(contract).$context<Context>().loans
    const broken = { loans: { list: list.handler(() => ({ loans: [] })) } }

    expect(await listUnscoped(broken, client(broken), 'write')).toEqual(['loans.list'])
    expect(await listUnscoped(broken, client(broken), 'read')).toEqual([])
  })
})

describe('an answer that is the same for all callers', () => {
  test('the check finds a procedure that needs a session', () => {
    const meta: Meta = { fixedAnswer: true, access: 'signedIn' }

    expect(listGuardedFixedAnswers({ broken: os.$meta(meta).handler(() => 1) })).toEqual(['broken'])
  })
})

describe('a change of data', () => {
  test('the check finds a public change without a limit, and a change by GET', () => {
    const change = os.$meta<Meta>({ access: 'public', updates: [] })
    const limited = os.$meta<Meta>({ access: 'signedIn', updates: [] }).route({ method: 'GET' })

    expect(listUnsafeChanges({ a: change.handler(() => 1), b: limited.handler(() => 1) })).toEqual(['a', 'b'])
  })
})

describe('the consent page', () => {
  test('the check finds a resource that the page does not name', () => {
    const html = consentHtml(app, 'read').replaceAll('loans', '')

    expect(listUnnamedResources(app, html, 'read')).toEqual(['loans'])
  })
})

describe('a table with the column user_id', () => {
  test('the check finds a table without a foreign key', async () => {
    await db.execute(sql`create table diaries (user_id text)`)
    const tables = await listTablesWithoutCascade(db)
    await db.execute(sql`drop table diaries`)

    expect(tables).toEqual(['diaries'])
  })
})

describe('a table within another table', () => {
  test('the check finds a foreign key that declares nothing for a deletion', async () => {
    const ofTracker = await start(tracker)
    onTestFinished(() => ofTracker.close())
    const before = await listTablesThatKeepParents(ofTracker)
    await ofTracker.services.db.execute(sql`
      alter table comments drop constraint comments_ticket_id_tickets_id_fk,
      add foreign key (ticket_id) references tickets`)

    expect([before, await listTablesThatKeepParents(ofTracker)]).toEqual([[], ['comments']])
  })
})

describe('every error that the contract declares', () => {
  test('the check finds an error without a case', () => {
    const broken = { ...app, router: { loans: { get: os.errors({ LOST: {} }).handler(() => 1) } } }

    expect(listDeclaredErrors(broken)).toEqual(['loans.get LOST'])
  })
})

describe('a procedure', () => {
  test('the check finds a procedure that the engine does not have', () => {
    const get = os.handler(() => 1)

    expect(listOwnProcedures({ router: { status: { get }, diaries: { get } } })).toEqual(['diaries.get'])
  })

  test('the check finds a list that ignores `limit`', async () => {
    const book = { title: 'A book', copies: 1, lent: 0, createdAt: 1 }
    const books = [
      { id: 'a', ...book },
      { id: 'b', ...book },
    ]
    const worlds = await breakApp(withHandler('books', 'list', () => ({ books })))

    const lists = await readPages(worlds, cases, declaredWith('books.list'))

    expect(lists).toEqual([{ complete: books, pages: [books], totals: [{}, {}] }])
  })

  test('the check of pages accepts a resource with unique texts', async () => {
    await db.execute(sql`create unique index unique_remark on loans (user_id, remark)`)
    onTestFinished(async () => {
      await db.execute(sql`drop index unique_remark`)
    })

    const [list] = await readPages(await breakApp({}), cases, declaredWith('loans.list'))

    expect(list?.complete).toHaveLength(2)
    expect(list?.pages).toEqual(list?.complete.map((loan) => [loan]))
  })
})

describe('the data of a person', () => {
  async function shareShelf(person: Person, email: string) {
    const shelf = await query.shelfRows.insert(db, person, { name: 'Shared' })
    await db.insert(query.shelfShares).values({ shelfId: shelf?.id ?? 0, email, role: 'reader' })
  }

  const nothing = {
    select: selectWith(
      () => ({}),
      () => ({ loans: [], shelves: [] }),
    ),
  }

  test('the check finds a table and a part of the export without rows', async () => {
    const scene = await createSceneOf({})
    await db.delete(query.loans)

    expect(await listTablesWithoutRows(scene)).toEqual(['loans'])
    expect(await listEmptyParts(scene)).toEqual(['loans'])
  })

  test('the check finds texts that the export does not contain', async () => {
    const scene = await createSceneOf({ personalData: nothing })

    expect(await findUnexported(scene)).toBe(
      'The export contains the text 0 times, and the database 2 times, in: loans, shelves',
    )
  })

  test('the check finds a table with data of a deleted account', async () => {
    const scene = await createSceneOf({ personalData: nothing })
    await shareShelf(scene.bob, scene.ada.email)

    expect(await listTablesAfterDeletion(scene)).toEqual(['shelf_shares'])
  })

  test('accepts the address of a deleted account, but no id, in a table that a resource declares', async () => {
    const keepsAddressIn = { shelf_shares: 'A share belongs to the shelf of another person.' }
    const listTables = async (nameOf: (person: { id: string; email: string }) => string) => {
      const scene = await createSceneOf({ personalData: { ...nothing, keepsAddressIn } })
      await shareShelf(scene.bob, nameOf(scene.ada))
      return listTablesAfterDeletion(scene)
    }

    expect(await listTables(({ email }) => email)).toEqual([])
    expect(await listTables(({ id }) => id)).toEqual(['shelf_shares'])
  })
})
