import type { AnyContractRouter } from '@orpc/contract'
import { type EngineContract, scopes } from 'tallystick-contract'
import { beforeAll, describe, expect, test } from 'vitest'

import type { App } from '../../resource.ts'
import type { AnyCases, Cases } from './cases.ts'
import { consentHtml, listUnnamedResources } from './consent.ts'
import {
  findUnexported,
  listEmptyParts,
  listForeignEffects,
  listTablesAfterDeletion,
  listTablesWithoutCascade,
  listTablesWithoutRows,
  readPages,
} from './data.ts'
import { hasServer, listDeclaredErrors, listErrorCases, needsServer } from './errors.ts'
import {
  callByPath,
  isUnauthorized,
  listGuardedConstants,
  listOwnProcedures,
  listUnguarded,
  listUnsafeChanges,
  listUnscoped,
  proceduresOf,
  topicsWith,
} from './procedures.ts'
import { callerOf, createScene, runCall, type Running, start, transports } from './running.ts'

export type { Cases, People } from './cases.ts'

/** Only decides how long a broken application waits, in milliseconds. */
const START_TIMEOUT = 60_000

/**
 * Defines the tests of the rules that every application obeys. A test file of an application contains one call:
 * `laws(app, cases)`. `environment` contains settings by name.
 */
export function laws<Contract extends EngineContract & AnyContractRouter, Fixture>(
  app: App<Contract>,
  cases: Cases<NoInfer<Contract>, Fixture>,
  environment?: Record<string, string>,
) {
  const procedures = proceduresOf(app.router)
  const own = procedures.filter(({ name, isStream }) => name in cases.calls && !isStream)
  const errorCases = listErrorCases(app, cases)
  let running: Running
  beforeAll(async () => {
    running = await start(app, environment)
    return running.close
  }, START_TIMEOUT)

  describe('the guard', () => {
    describe.each(transports)('%s', (_, connect) => {
      test('rejects unauthenticated callers of procedures that require a session', async () => {
        expect(await listUnguarded(app.router, connect(running, {}))).toEqual([])
      })

      const publicCalls = procedures.flatMap((declared) =>
        topicsWith(declared.meta, 'public').map((topics) => ({
          name: [declared.name, ...topics].join(' '),
          declared,
          topics,
        })),
      )
      test.each(publicCalls)('accepts unauthenticated callers of $name', async ({ declared, topics }) => {
        const error = await callByPath(connect(running, {}), declared, topics).catch(
          (error: unknown) => error,
        )

        expect(isUnauthorized(error)).toBe(false)
      })

      test('requires a session if one of several topics does', async () => {
        const watch = procedures.find(({ meta }) => meta.watches)
        const topics = watch?.meta.watches?.map(({ name }) => name) ?? []
        const call = callByPath(connect(running, {}), watch ?? { path: [], parameters: [] }, topics)

        await expect(call).rejects.toSatisfy(isUnauthorized)
      })

      test.each(scopes)('rejects tokens with only the scope %s elsewhere', async (scope) => {
        const cookie = await running.signIn(`${crypto.randomUUID()}@example.com`)
        const { token } = await running.client({ cookie }).tokens.create({ label: 'Law', scopes: [scope] })
        const bearer = connect(running, { authorization: `Bearer ${token}` })

        expect(await listUnscoped(app.router, bearer, scope)).toEqual([])
      })
    })
  })

  describe('the router', () => {
    test('implements exactly the procedures of the contract', () => {
      expect(procedures.map(({ name }) => name)).toEqual(proceduresOf(app.contract).map(({ name }) => name))
    })
  })

  describe('an answer that is the same for all callers', () => {
    test('belongs to a public procedure without limit, because the guard does not run again', () => {
      expect(listGuardedConstants(app.router)).toEqual([])
    })
  })

  describe('a change of data', () => {
    test('is not a GET request, and has a rate limit if any caller can make the change', () => {
      expect(listUnsafeChanges(app.router)).toEqual([])
    })
  })

  describe('the consent page', () => {
    test.each(scopes)('names every resource to which the scope %s gives access', (scope) => {
      expect(listUnnamedResources(app, consentHtml(app, scope), scope)).toEqual([])
    })
  })

  describe('a table with the column user_id', () => {
    test('loses the rows of a deleted account', async () => {
      const advice = 'Declare the column with userIdColumn() of tallystick/db'
      expect(await listTablesWithoutCascade(running.services.db), advice).toEqual([])
    })
  })

  describe('every error that the contract declares', () => {
    test('has a case in `errors`, or is an error of the guard', () => {
      const provoked = new Set(errorCases.map(([name]) => name))

      expect([...provoked].sort(), 'Add a case to `errors` for every declared error').toEqual(
        listDeclaredErrors(app).sort(),
      )
    })

    describe.each(transports)('%s', (_, connect) => {
      test.for(errorCases)('%s is a defined error for the client', async (errorCase, { skip }) => {
        const [name, provoke] = errorCase
        skip(needsServer(errorCase) && !hasServer(running), 'The embedded database has one connection')
        const scene = await createScene(running, connect, cases)

        await expect(provoke(scene, cases)).rejects.toMatchObject({ defined: true, code: name.split(' ')[1] })
      })
    })
  })

  defineLawsOfCalls(app, cases, () => running, own)
}

/**
 * The laws that need the calls of `cases`. Over one transport, to save time: REST, which refuses undeclared properties in an
 * output outside of production.
 */
function defineLawsOfCalls(
  app: App,
  cases: AnyCases,
  getRunning: () => Running,
  own: ReturnType<typeof proceduresOf>,
) {
  const connect = transports.at(-1)?.[1]
  if (!connect) throw new Error('TEST_TRANSPORT must be the name of a transport')
  const createOwnScene = () => createScene(getRunning(), connect, cases)
  const inNames = own.map((declared) => [declared.name, declared] as const)

  describe('a procedure', () => {
    test('of the application has a call in `calls`', () => {
      const missing = listOwnProcedures(app).filter((name) => !(name in cases.calls))

      expect(missing, 'Add a call to `calls` for every procedure').toEqual([])
    })

    test.each(inNames)('%s succeeds for its caller', async (name, { meta }) => {
      const scene = await createOwnScene()

      await expect(runCall(scene, cases, name, callerOf(scene, meta))).resolves.toBeDefined()
    })

    test.each(inNames)('%s neither shows nor changes data of another person', async (_, declared) => {
      expect(await listForeignEffects(await createOwnScene(), cases, declared)).toEqual([])
    })

    test.each(inNames.filter(([, { meta }]) => meta.idempotencyKey))(
      '%s runs once for each Idempotency-Key',
      async (name, { meta }) => {
        const scene = await createOwnScene()
        const headers = { 'idempotency-key': crypto.randomUUID() }
        const call = () => runCall(scene, cases, name, callerOf(scene, meta), headers)

        expect(await call()).toEqual(await call())
      },
    )

    test.each(inNames.filter(([, { isList }]) => isList))(
      '%s has pages of `limit` items, which together are the list',
      async (_, declared) => {
        const { complete, pages } = await readPages(await createOwnScene(), cases, declared)

        expect(complete.length, '`prepare` creates no item of the list').toBeGreaterThan(1)
        expect(pages).toEqual(complete.map((item) => [item]))
      },
    )
  })

  describe('the data of a person', () => {
    test('is in every table and in every part of the export after `prepare`', async () => {
      const scene = await createOwnScene()

      expect(await listTablesWithoutRows(scene), '`prepare` must create rows in each table').toEqual([])
      expect(
        await listEmptyParts(scene, cases),
        '`prepare` must create rows with the text. Name resources without texts in `withoutText`',
      ).toEqual([])
    })

    test('is in the export', async () => {
      expect(await findUnexported(await createOwnScene())).toBeUndefined()
    })

    test('is in no table after the deletion of the account', async () => {
      expect(await listTablesAfterDeletion(await createOwnScene())).toEqual([])
    })
  })
}
