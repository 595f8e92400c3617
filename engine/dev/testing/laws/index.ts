import type { AnyContractRouter } from '@orpc/contract'
import { type EngineContract, scopes } from 'tallystick-contract/internal'
import { beforeAll, describe, expect, test } from 'vitest'

import type { App } from 'tallystick/internal/app/resource'
import type { Cases } from './cases.ts'
import { type CollectedCases, toAnyCases } from './collect.ts'
import { consentHtml, listUnnamedResources } from './consent.ts'
import { defineLawsOfCalls } from './data-laws.ts'
import { listTablesThatKeepParents, listTablesWithoutCascade } from './data.ts'
import { defineLawsOfEndpoints } from './endpoints.ts'
import { causeError, hasServer, listErrorCases, listMissingCases, needsServer } from './errors.ts'
import {
  callByPath,
  isUnauthorized,
  listGuardedFixedAnswers,
  listUnguarded,
  listUnsafeChanges,
  listUnscoped,
  proceduresOf,
  topicsWith,
} from './procedures.ts'
import { explain, type Running, start, transports } from './running.ts'
import { listRefusedTools } from './tools.ts'
import { createWorlds, type Worlds } from './worlds.ts'

export type { Cases, People } from './cases.ts'
export { casesOf, collectCases, type ResourceCases } from './collect.ts'

/** How long the tests wait for an application that does not start, in milliseconds. */
const START_TIMEOUT = 60_000

/**
 * Defines the tests of the rules that every application obeys. A test file of an application contains one call:
 * `laws(app, cases)`. `cases` are all cases, or those of `collectCases`. `environment` contains settings by name, for example
 * `{ LOG_LEVEL: 'error' }` to see the log. Limits of calls are off, unless `RATE_LIMITS` is `on`.
 */
export function laws<Contract extends EngineContract & AnyContractRouter, Fixture>(
  app: App<Contract>,
  given: Cases<NoInfer<Contract>, Fixture> | CollectedCases,
  environment?: Record<string, string>,
) {
  const cases = toAnyCases(given)
  const procedures = proceduresOf(app.router)
  let running: Running
  let worlds: Worlds
  beforeAll(async () => {
    running = await start(app, environment)
    // The same application with and without the rows of another person, Ada. Bob calls it in both.
    worlds = await createWorlds(running, cases)
    return running.close
  }, START_TIMEOUT)

  describe('the guard', () => {
    describe.each(transports)('%s', (_, connect) => {
      test('rejects unauthenticated callers of procedures that require a session', async () => {
        expect(await listUnguarded(app.router, connect(running, {}))).toEqual([])
      })

      // A procedure without topics has one call. `live.watch` has one call for each public topic.
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
        // Every application has `live.watch`, and the engine's topic `sessions`, which requires a session.
        const watch = procedures.find(({ meta }) => meta.watches)
        if (!watch) throw new Error('The contract has no live.watch')
        const topics = watch.meta.watches?.map(({ name }) => name) ?? []
        const call = callByPath(connect(running, {}), watch, topics)

        await expect(call).rejects.toSatisfy(isUnauthorized)
      })

      test.each(scopes)(
        'rejects tokens with only the scope %s at procedures of other scopes',
        async (scope) => {
          const cookie = await running.signIn(`${crypto.randomUUID()}@example.com`)
          const { token } = await running.client({ cookie }).tokens.create({ label: 'Law', scopes: [scope] })
          const bearer = connect(running, { authorization: `Bearer ${token}` })

          expect(await listUnscoped(app.router, bearer, scope)).toEqual([])
        },
      )
    })
  })

  describe('the router', () => {
    test('implements exactly the procedures of the contract', () => {
      expect(procedures.map(({ name }) => name)).toEqual(proceduresOf(app.contract).map(({ name }) => name))
    })
  })

  describe('an answer that is the same for all callers', () => {
    test('belongs to a public procedure without limit, because the guard does not run again', () => {
      expect(listGuardedFixedAnswers(app.router)).toEqual([])
    })
  })

  describe('a change of data', () => {
    test('is not a GET request, and has a rate limit if any caller can make the change', () => {
      expect(listUnsafeChanges(app.router)).toEqual([])
    })
  })

  describe('a tool of agents', () => {
    test('has only schemas that Claude, OpenAI and Gemini accept', () => {
      expect(listRefusedTools(app)).toEqual([])
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

  describe('a table within another table', () => {
    test('declares what happens to its rows when their parent is deleted', async () => {
      const advice = "Declare the column with references(…, { onDelete: 'cascade' })"
      expect(await listTablesThatKeepParents(running), advice).toEqual([])
    })
  })

  describe('every error that the contract declares', () => {
    test('has a case in `errors`, or is an error of the guard', () => {
      expect(listMissingCases(app, cases)).toEqual([])
    })

    describe.each(transports)('%s', (_, connect) => {
      test.for(listErrorCases(app, cases))(
        '%s is a defined error for the client',
        async (errorCase, { skip }) => {
          const [name] = errorCase
          const code = name.split(' ')[1]
          skip(needsServer(errorCase) && !hasServer(running), 'The embedded database has one connection')
          const { error, shown } = await causeError(worlds, connect, cases, errorCase)
          const isExpected = (error as { code?: unknown } | undefined)?.code === code

          const message = error === undefined ? `The call succeeds instead of the error ${code}` : ''
          expect(isExpected ? error : explain(error, running), message).toMatchObject({ defined: true, code })
          expect(shown, 'Values of Ada in the errors of Bob').toEqual([])
        },
      )
    })
  })

  defineLawsOfEndpoints(app.endpoints, () => worlds)
  defineLawsOfCalls(app, cases, () => worlds)
}
