import { afterAll, describe, expect, test } from 'vitest'

import type { App } from 'tallystick/internal/app/resource'
import { listUnannounced, listUnwatched } from './observed/announcements.ts'
import { type AnyCases, callsOf } from './cases.ts'
import {
  findUnexported,
  listEmptyParts,
  listTablesAfterDeletion,
  listTablesWithoutRows,
  readPages,
} from './data.ts'
import {
  listDependencies,
  listEffectsOfAda,
  listDependenciesOfEngine,
  listVolatile,
} from './observed/interference.ts'
import { lineOfError } from './errors.ts'
import { listIgnoredInputs } from './observed/inputs.ts'
import { createLaw, type Law } from './observed/observations.ts'
import { type Declared, listOwnProcedures, proceduresOf } from './procedures.ts'
import { checkRelation } from './observed/relations.ts'
import { checkSwaps } from './observed/swaps.ts'
import { listUnchangedTags } from './observed/tags.ts'
import { explain, transports } from './running.ts'
import { callerOf, createScene, type Worlds } from './worlds.ts'

/** The line to add for a procedure without a call. */
const lineFor = (name: string) => {
  const [resource = '', key = ''] = name.split('.')
  return `Add to \`calls\`: '${name}': ({ ${resource} }) => ${resource}.${key}(…),`
}

/**
 * Defines the laws that need the calls of the cases (worlds.ts):
 * - A world is the database after `prepare` has created rows for two people. In one world the rows of Ada are older, in the other world
 *   those of Bob, because an id or an order can show who was first.
 * - A scene has the rows of both. Its caller is Ada or an administrator.
 *
 * The calls are over REST, if TEST_TRANSPORT names no other transport.
 */
export function defineLawsOfCalls(app: App, cases: AnyCases, getWorlds: () => Worlds) {
  // REST is the last transport, unless TEST_TRANSPORT names another one.
  const [, connect] = transports.at(-1) ?? []
  if (!connect) throw new Error('TEST_TRANSPORT must be the name of a transport')
  let law: Law | undefined
  // At the first use, because the worlds exist only after `beforeAll`.
  const getLaw = () => (law ??= createLaw(getWorlds(), cases, connect))
  const own = proceduresOf(app.router).filter(({ name, isStream }) => name in cases.calls && !isStream)
  const withNames = (procedures: readonly Declared[]) => procedures.map((each) => [each.name, each] as const)
  const changes = own.filter(({ isChange }) => isChange)
  /** The procedures in which no value of another person could be swapped. */
  const withoutSwaps = new Set(own.map(({ name }) => name))
  /** Whether a value of another person must cause FORBIDDEN, because nothing else in the cases does. */
  const needsForbidden = ({ name, errors, meta }: Declared) =>
    errors.includes('FORBIDDEN') && meta.action && !meta.noImpersonation && !cases.forbidden?.[name]
  /** Number of tests that ran and can use exceptions. With a filter of tests, this number is too small for the last test, which is skipped. */
  let testsWithExceptions = 0

  describe('a procedure', () => {
    test('of the application has a call in `calls`', () => {
      expect(
        listOwnProcedures(app)
          .filter((name) => !(name in cases.calls))
          .map(lineFor),
      ).toEqual([])
    })

    test.each(withNames(own))('%s succeeds for its caller', async (name, { meta }) => {
      const worlds = getWorlds()
      for (const call of callsOf(cases, name)) {
        const { running, fixture, ...scene } = await createScene(worlds, connect)
        const client = connect(running, { cookie: callerOf(scene, meta).cookie })
        const outcome = call(client, fixture).catch((error: unknown) => {
          throw explain(error, running)
        })

        await expect(outcome).resolves.toBeDefined()
      }
    })

    test.each(withNames(changes.filter(({ meta }) => meta.idempotencyKey)))(
      '%s runs once for each Idempotency-Key',
      async (name, { meta }) => {
        const { running, fixture, ...scene } = await createScene(getWorlds(), connect)
        const { cookie } = callerOf(scene, meta)
        const client = connect(running, { cookie, 'idempotency-key': crypto.randomUUID() })
        const [call] = callsOf(cases, name)

        expect(await call?.(client, fixture)).toEqual(await call?.(client, fixture))
      },
    )

    test.each(withNames(own.filter(({ isList }) => isList)))(
      '%s has pages of `limit` items, which together are the list',
      async (_, declared) => {
        const [first, ...others] = await readPages(getWorlds(), cases, declared)

        expect(first?.complete.length, '`prepare` creates no item of the list').toBeGreaterThan(1)
        for (const list of [first, ...others]) {
          expect(list?.pages.flat(), 'One page for each item').toEqual(list?.complete)
          for (const total of list?.totals ?? [])
            expect(total, 'The fields beside the list are the same on each page').toEqual(list?.totals[0])
        }
        expect(first?.pages).toEqual(first?.complete.map((item) => [item]))
      },
    )

    test.each(withNames(own))('%s ignores no input', async (_, declared) => {
      expect(await listIgnoredInputs(getLaw(), declared)).toEqual([])
    })
  })

  describe('a topic of a parent', () => {
    test('has a call that names the parent', async () => {
      expect(await listUnwatched(getLaw())).toEqual([])
    })
  })

  describe('what a person observes', () => {
    test('differs in two calls with nothing between them only where `volatile` says so', async () => {
      testsWithExceptions++

      expect(await listVolatile(getLaw())).toEqual([])
    })

    test('does not depend on the rows of others: the procedures of the engine', async () => {
      expect(await listDependenciesOfEngine(getLaw())).toEqual([])
    })

    test.each(withNames(own))('does not depend on the rows of others: %s', async (_, declared) => {
      testsWithExceptions++

      expect(await listDependencies(getLaw(), declared)).toEqual([])
    })

    test.each(withNames(changes.filter(({ meta }) => !meta.administratorsOnly)))(
      'does not depend on changes by others: %s',
      async (_, declared) => {
        testsWithExceptions++

        expect(await listEffectsOfAda(getLaw(), declared)).toEqual([])
      },
    )

    describe.each(transports)('%s', (_, connect) => {
      test.each(withNames(own))(
        'with a value of another person is as with an unknown value: %s',
        async (name, declared) => {
          testsWithExceptions++
          const { sentences, count, isForbidden } = await checkSwaps(getLaw(), declared, connect)
          if (count > 0) withoutSwaps.delete(name)

          expect(sentences).toEqual([])
          if (needsForbidden(declared)) expect(isForbidden, lineOfError(`${name} FORBIDDEN`)).toBe(true)
        },
      )
    })

    test.each(Object.keys(cases.relations ?? {}).map((name) => [name]))(
      'depends on the relation "%s", live, until the end of the relation',
      async (name) => {
        testsWithExceptions++

        expect(await checkRelation(getLaw(), name)).toEqual([])
      },
    )

    test.each(withNames(changes))('is announced after a change: %s', async (_, declared) => {
      expect(await listUnannounced(getLaw(), declared)).toEqual([])
    })

    test.each(withNames(changes))('has another ETag after a change: %s', async (_, declared) => {
      expect(await listUnchangedTags(getLaw(), declared)).toEqual([])
    })

    test('needs each exception', ({ skip }) => {
      const expected =
        1 +
        own.length * (1 + transports.length) +
        changes.filter(({ meta }) => !meta.administratorsOnly).length +
        Object.keys(cases.relations ?? {}).length
      skip(testsWithExceptions < expected, 'Needs all laws of this file')

      expect(getLaw().exceptions.listUnused(), 'Remove these exceptions').toEqual([])
    })

    afterAll(() => {
      if (withoutSwaps.size > 0)
        console.log(`The laws swap no value of another person in: ${[...withoutSwaps].join(', ')}`)
    })
  })

  describe('the data of a person', () => {
    test('is in every table and in every part of the export after `prepare`', async () => {
      const scene = await createScene(getWorlds())

      expect(await listTablesWithoutRows(scene), '`prepare` must create rows in each table').toEqual([])
      expect(await listEmptyParts(scene), '`prepare` must create rows for each part of the export').toEqual(
        [],
      )
    })

    test('is in the export', async () => {
      expect(await findUnexported(await createScene(getWorlds()))).toBeUndefined()
    })

    test('is in no table after the deletion of the account', async () => {
      expect(await listTablesAfterDeletion(await createScene(getWorlds()))).toEqual([])
    })
  })
}
