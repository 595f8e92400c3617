import type { AnyContractRouter } from '@orpc/contract'
import { type AnyRouter, createRouterClient, implement, os, traverseContractProcedures } from '@orpc/server'
import { isAsyncIteratorObject } from '@orpc/shared'
import { eq, sql } from 'drizzle-orm'
import { beforeAll, describe, expect, test } from 'vitest'

import { type Access, type Meta, metaOf, type Scope, scopes } from '../engine/contract/meta.ts'
import type { Client } from '../contract/client.ts'
import { contract } from '../contract/index.ts'
import { users } from '../engine/db/users.ts'
import { tryLock } from '../engine/db/idempotency.ts'
import { MAX_TOKENS } from '../engine/db/personal-tokens.ts'
import { sessions } from '../engine/db/sessions.ts'
import { createContext } from '../engine/guard/authentication.ts'
import type { Context } from '../engine/context.ts'
import { resourceNames as engineNames } from '../engine/texts.ts'
import { withoutCaller } from '../engine/guard/index.ts'
import { app } from '../src/app.ts'
import { consentPage } from '../engine/html/account.ts'
import { createPageTranslator } from '../engine/html/page-translator.ts'
import { describeTransports, startService } from './fixtures/service.ts'

const service = await startService()
const { db } = service.services

/** Lists every procedure of a router: its name, its path, and the declarations of its contract. */
function proceduresOf(router: AnyRouter | AnyContractRouter) {
  const found: { name: string; path: readonly string[]; meta: Meta; errors: string[] }[] = []
  traverseContractProcedures({ router, path: [] }, ({ contract: procedure, path }) => {
    const { errorMap }: { errorMap: object } = procedure['~orpc']
    found.push({
      name: path.join('.'),
      path,
      meta: metaOf(procedure),
      errors: Object.keys(errorMap),
    })
  })
  return found
}

/**
 * Calls a procedure by its path. The input contains only `id`, because REST needs this parameter for some URLs, and the
 * topics of `live.watch`. Ends a stream.
 */
async function callOf(
  client: object,
  path: readonly string[],
  options?: object,
  topics: readonly string[] = [],
) {
  const procedure = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], client)
  const output = await (procedure as (input: unknown, options?: object) => Promise<unknown>)(
    { id: 1, topics },
    options,
  )
  if (isAsyncIteratorObject(output)) await output.return?.()
  return output
}

/** Lists the inputs of a procedure that need an access: none, one without topics, or one for each topic. */
const topicsWith = ({ access, watches }: Meta, expected: Access): string[][] => {
  if (!watches) return access === expected ? [[]] : []
  return watches.flatMap((topic) => (topic.access === expected ? [[topic.name]] : []))
}

const isUnauthorized = (error: unknown) => (error as { code?: string }).code === 'UNAUTHORIZED'

/** Lists the procedures that accept an unauthenticated caller although their contract requires a session. */
async function unguarded(router: AnyRouter, client: object) {
  const names: string[] = []
  for (const { name, path, meta } of proceduresOf(router))
    for (const topics of topicsWith(meta, 'signedIn')) {
      const isRefused = await callOf(client, path, {}, topics).then(() => false, isUnauthorized)
      if (!isRefused) names.push([name, ...topics].join(' '))
    }
  return names
}

describe('the guard', () => {
  describeTransports(service, ({ stranger }) => {
    test('rejects unauthenticated callers of procedures that require a session', async () => {
      expect(await unguarded(app.router, stranger)).toEqual([])
    })

    const publicCalls = proceduresOf(app.router).flatMap(({ name, path, meta }) =>
      topicsWith(meta, 'public').map((topics) => ({ name: [name, ...topics].join(' '), path, topics })),
    )
    test.each(publicCalls)('accepts unauthenticated callers of $name', async ({ path, topics }) => {
      const error = await callOf(stranger, path, {}, topics).catch((error: unknown) => error)

      expect(isUnauthorized(error)).toBe(false)
    })

    test('requires a session if one of several topics does', async () => {
      const call = callOf(stranger, ['live', 'watch'], {}, ['counter', 'tasks'])

      await expect(call).rejects.toSatisfy(isUnauthorized)
    })
  })

  test('the check finds a procedure without the guard', async () => {
    const os = implement(contract).$context<Context>().tasks
    const broken = { tasks: { reset: os.reset.handler(() => ({ taskCount: 0 })) } }
    const client = createRouterClient(broken, { context: createContext(service.services, {}) })

    expect(await unguarded(broken, client)).toEqual(['tasks.reset'])
  })

  test('requires a session if the contract does, even for a procedure that is implemented as public', async () => {
    const account = { id: '', name: '', email: '', emailVerified: true }
    const os = implement(contract).$context<Context>().use(withoutCaller).account
    const publicByMistake = { account: { get: os.get.handler(() => account) } }
    const client = createRouterClient(publicByMistake, { context: createContext(service.services, {}) })

    expect(await unguarded(publicByMistake, client)).toEqual([])
  })
})

describe('the router', () => {
  test('implements exactly the procedures of the contract', () => {
    const namesIn = (router: AnyRouter | AnyContractRouter) => proceduresOf(router).map(({ name }) => name)

    expect(namesIn(app.router)).toEqual(namesIn(contract))
  })
})

/** Lists the procedures with one answer for all callers, although the guard has more to do than to name the operation. */
const guardedConstants = (router: AnyRouter) =>
  proceduresOf(router)
    .filter(
      ({ meta: { constant, access, rateLimit, secrets } }) =>
        constant && (access !== 'public' || (rateLimit ?? secrets)),
    )
    .map(({ name }) => name)

describe('an answer that is the same for all callers', () => {
  test('belongs to a public procedure without limit, because the guard does not run again', () => {
    expect(guardedConstants(app.router)).toEqual([])
  })

  test('the check finds a procedure that needs a session', () => {
    const meta: Meta = { constant: true, access: 'signedIn' }

    expect(guardedConstants({ broken: os.$meta(meta).handler(() => 1) })).toEqual(['broken'])
  })
})

/** Resource names on the consent page that differ from the key of the resource in the contract. */
const resourceNames: Record<string, string> = { legacyNotes: 'notes' }

const nameOf = (key: string) =>
  resourceNames[key] ?? key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const consentHtml = (scope: Scope) => {
  const client = { id: 'app', name: 'An app', trusted: false }
  const { scopeResources } = app
  const request = { app: client, redirectUri: 'https://app.example/', scope, scopeResources }
  return consentPage(createPageTranslator(app, 'en'), request, 'ada@example.com')
}

/** Lists the resources that the scope allows an app to access, but that the consent page does not name. */
const unnamedResources = (html: string, scope: Scope) => {
  // `live.watch` gives access to the resources of its topics.
  const granted = proceduresOf(contract).filter(
    ({ meta, path }) => meta.scope === scope && path[0] !== 'live',
  )
  const names = granted.map(({ path }) => nameOf(path[0] ?? ''))
  return [...new Set(names)].filter((name) => !html.includes(name))
}

describe('the consent page', () => {
  test.each(scopes)('names every resource to which the scope %s gives access', (scope) => {
    expect(unnamedResources(consentHtml(scope), scope)).toEqual([])
  })

  test('has the English name of every resource', () => {
    const english = { ...engineNames.en, ...app.resourceNames.en }
    const unnamed = scopes
      .flatMap((scope) => app.scopeResources[scope])
      .filter((name) => !Object.hasOwn(english, name))

    expect(unnamed, 'Add the name of the resource to `resources` in src/messages/en.ts').toEqual([])
  })

  test('the check finds a resource that the page does not name', () => {
    const html = consentHtml('read').replaceAll('tasks', '')

    expect(unnamedResources(html, 'read')).toEqual(['tasks'])
  })
})

/** Lists the tables that have a column `user_id`, but no foreign key to `users` with `ON DELETE CASCADE`. */
const tablesWithoutCascade = async () => {
  const rows = await db.execute(sql`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'user_id'
    except select conrelid::regclass::text from pg_constraint
    where contype = 'f' and confrelid = 'users'::regclass and confdeltype = 'c'`)
  return Array.from(rows as Iterable<{ name: string }>, ({ name }) => name)
}

describe('a table with the column user_id', () => {
  test('loses the rows of a deleted account', async () => {
    const advice = 'Declare the column with userId() of engine/db/users.ts'
    expect(await tablesWithoutCascade(), advice).toEqual([])
  })

  test('the check finds a table without a foreign key', async () => {
    await db.execute(sql`create table diaries (user_id text)`)
    const tables = await tablesWithoutCascade()
    await db.execute(sql`drop table diaries`)

    expect(tables).toEqual(['diaries'])
  })
})

interface Fixture {
  ada: Client
  bob: Client
  /** The id of one of Ada's notes. */
  id: string
  /** The token of one of Ada's sessions. */
  token: string
}

const input = { title: 'Title', body: '' }
const share = { email: 'x@example.com', role: 'reader' } as const
const absent = { id: '00000000-0000-7000-8000-000000000000' }

const keyed = { context: { headers: { 'idempotency-key': 'key' } } }
const stale = { context: { headers: { 'if-match': '"0"' } } }

const withKeyUsed = async (ada: Client, path: readonly string[]) => {
  await ada.notes.create({ ...input, body: 'Other' }, keyed)
  return callOf(ada, path, keyed)
}
const withKeyLocked = async (ada: Client, path: readonly string[]) => {
  const { id } = await ada.account.get()
  return service.services.db.transaction(async (tx) => {
    await tryLock(tx, id, 'key')
    return callOf(ada, path, keyed)
  })
}

/** Marks all sessions of a caller in the database as impersonations by an administrator. */
async function impersonate(caller: Client) {
  const { id } = await caller.account.get()
  const administrator = await service.person()
  const { id: impersonatedBy } = await administrator.account.get()
  const [own] = (await administrator.sessions.list()).sessions
  await db.update(users).set({ role: 'admin' }).where(eq(users.id, impersonatedBy))
  await db
    .update(sessions)
    .set({ impersonatedBy, administratorSessionId: own?.id ?? '' })
    .where(eq(sessions.userId, id))
}

/**
 * For each error of the contract, a call that causes this error. The guard's errors (credentials, scopes) need no
 * entry.
 */
const errorCases: Record<string, (fixture: Fixture) => Promise<unknown>> = {
  'account.export FORBIDDEN': async ({ ada }) => {
    await impersonate(ada)
    return ada.account.export()
  },
  'account.export TOO_LARGE': async ({ ada }) => {
    const { id: userId } = await ada.account.get()
    await db.execute(sql`
      insert into notes (uuid, user_id, title, body)
      select gen_random_uuid(), ${userId}, 'x', repeat('x', 4000) from generate_series(1, 4200)`)
    return ada.account.export()
  },
  'account.delete FORBIDDEN': async ({ ada }) => {
    await impersonate(ada)
    return ada.account.delete({ email: 'x' })
  },
  'account.delete WRONG_ADDRESS': ({ ada }) => ada.account.delete({ email: 'x' }),
  'counter.increment CONFLICT': async ({ ada }) => {
    await ada.counter.set({ inputValue: Number.MAX_SAFE_INTEGER })
    return ada.counter.increment()
  },
  'counter.decrement CONFLICT': async ({ ada }) => {
    await ada.counter.set({ inputValue: Number.MIN_SAFE_INTEGER })
    return ada.counter.decrement()
  },
  'tasks.get NOT_FOUND': ({ ada }) => ada.tasks.get({ id: 0 }),
  'tasks.update NOT_FOUND': ({ ada }) => ada.tasks.update({ id: 0 }),
  'tasks.update PRECONDITION_FAILED': async ({ ada }) => {
    const { id } = await ada.tasks.create({ taskTitle: 'Title' })
    return ada.tasks.update({ id }, stale)
  },
  'tasks.delete PRECONDITION_FAILED': ({ ada }) => ada.tasks.delete({ id: 0 }, stale),
  'notes.update PRECONDITION_FAILED': ({ ada, id }) => ada.notes.update({ id, ...input }, stale),
  'notes.share PRECONDITION_FAILED': ({ ada, id }) => ada.notes.share({ id, ...share }, stale),
  'notes.delete PRECONDITION_FAILED': ({ ada, id }) => ada.notes.delete({ id }, stale),
  'notes.update NOT_FOUND': ({ ada }) => ada.notes.update({ ...absent, ...input }),
  'notes.update FORBIDDEN': ({ bob, id }) => bob.notes.update({ id, ...input }),
  'notes.share NOT_FOUND': ({ ada }) => ada.notes.share({ ...absent, ...share }),
  'notes.share FORBIDDEN': ({ bob, id }) => bob.notes.share({ id, ...share }),
  'notes.shares NOT_FOUND': ({ ada }) => ada.notes.shares(absent),
  'notes.shares FORBIDDEN': ({ bob, id }) => bob.notes.shares({ id }),
  'notes.unshare PRECONDITION_FAILED': ({ ada, id }) => ada.notes.unshare({ id, ...share }, stale),
  'notes.unshare NOT_FOUND': ({ ada }) => ada.notes.unshare({ ...absent, ...share }),
  'notes.unshare FORBIDDEN': ({ bob, id }) => bob.notes.unshare({ id, ...share }),
  'notes.delete NOT_FOUND': ({ ada }) => ada.notes.delete(absent),
  'notes.delete FORBIDDEN': ({ bob, id }) => bob.notes.delete({ id }),
  'sessions.revoke CURRENT_SESSION': ({ ada, token }) => ada.sessions.revoke({ revokeSessionToken: token }),
  'sessions.revoke FORBIDDEN': async ({ ada, token }) => {
    await impersonate(ada)
    return ada.sessions.revoke({ revokeSessionToken: token })
  },
  'sessions.revoke SESSION_NOT_FOUND': ({ ada }) => ada.sessions.revoke({ revokeSessionToken: 'none' }),
  'sessions.revokeOthers FORBIDDEN': async ({ ada }) => {
    await impersonate(ada)
    return ada.sessions.revokeOthers()
  },
  'apps.revoke FORBIDDEN': async ({ ada }) => {
    await impersonate(ada)
    return ada.apps.revoke({ id: 'none' })
  },
  'apps.revoke NOT_FOUND': ({ ada }) => ada.apps.revoke({ id: 'none' }),
  'tokens.create FORBIDDEN': async ({ ada }) => {
    await impersonate(ada)
    return ada.tokens.create({ label: 'Script', scopes: ['read'] })
  },
  'tokens.create TOO_MANY_TOKENS': async ({ ada }) => {
    const create = () => ada.tokens.create({ label: 'Script', scopes: ['read'] })
    for (let count = 0; count < MAX_TOKENS; count++) await create()
    return create()
  },
  'audit.list FORBIDDEN': ({ ada }) => ada.audit.list(),
  'reservations.create INVALID_RESERVATION': ({ ada }) => ada.reservations.create({ name: '', guests: 0 }),
}
// These calls need no valid input, because the guard checks the idempotency key before the input.
for (const { name, path } of proceduresOf(app.router).filter(({ meta }) => meta.idempotencyKey)) {
  errorCases[`${name} KEY_REUSED`] = ({ ada }) => withKeyUsed(ada, path)
  errorCases[`${name} UNDER_WAY`] = ({ ada }) => withKeyLocked(ada, path)
}

const declared = proceduresOf(app.router).flatMap(({ name, errors }) =>
  errors.map((code) => `${name} ${code}`),
)

describe('every error that the contract declares', () => {
  test('has a case in `errorCases`, or is an error of the guard', () => {
    const others = declared.filter((error) => !/ (UNAUTHORIZED|INSUFFICIENT_SCOPE)$/.test(error))

    expect(Object.keys(errorCases).sort(), 'Add an entry to `errorCases` for every declared error').toEqual(
      others.sort(),
    )
  })

  describeTransports(service, ({ person }) => {
    let bob: Client
    beforeAll(async () => {
      bob = await person()
    })

    test.each(Object.entries(errorCases))('%s is a defined error for the client', async (name, provoke) => {
      const ada = await person()
      const { id } = await ada.notes.create(input)
      const { sessions } = await ada.sessions.list()
      const fixture = { ada, bob, id, token: sessions[0]?.token ?? '' }

      await expect(provoke(fixture)).rejects.toMatchObject({ defined: true, code: name.split(' ')[1] })
    })
  })
})
