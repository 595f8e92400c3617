import { sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import type { RecordedRequest } from '../../console/requests/requests-contract.ts'
import { codeOf, toErrorMessage } from '../../db/errors.ts'
import { explain } from '../../db/explain.ts'
import { startConsole } from '../fixtures/console.ts'
import { PATIENCE } from '../fixtures/patience.ts'

describe.each([
  ['a server', {}],
  ['the embedded database', { DATABASE_URL: 'memory:' }],
])('statements.explain, on %s', async (_, environment: Record<string, string>) => {
  const { ask, cookie, origin, client, services } = await startConsole(environment)
  const { db } = services
  const countShelves = async () => (await db.select({ n: sql`count(*)` }).from(sql`shelves`))[0]?.n

  /** Adds a shelf, and passes the recorded request while a console watches. */
  async function recording<Result>(work: (request: RecordedRequest) => Promise<Result>) {
    const abort = new AbortController()
    const events = await client.watch(undefined, { signal: abort.signal })
    await events.next()
    await client.procedures.call({
      operation: 'shelves.create',
      input: { name: 'SENTINEL-name' },
      caller: { person: 'ada', scopes: null },
      headers: {},
    })
    try {
      for (;;) {
        const result = await events.next()
        const found = result.done
          ? undefined
          : result.value.requests.find(({ operation }) => operation === 'shelves.create')
        if (found) return await work(found)
      }
    } finally {
      abort.abort()
      await events.return(undefined).catch(() => undefined)
    }
  }

  test('shows the generic plan of each recorded statement, and changes nothing', async () => {
    await recording(async ({ statements }) => {
      const before = await countShelves()

      const plans = await Promise.all(statements.map(({ id }) => client.statements.explain({ id })))

      expect(plans.map(({ reason }) => reason)).toEqual(statements.map(() => null))
      const insert = statements.findIndex(({ text }) => text.startsWith('insert into "shelves"'))
      expect(plans[insert]?.text).toMatch(/^Insert on shelves/)
      expect(plans.some(({ text }) => text.includes('$1'))).toBe(true)
      expect(JSON.stringify(plans)).not.toMatch(/SENTINEL|ada@example\.com/)
      expect(await countShelves()).toEqual(before)
    })
  })

  test('knows no statement after the last console has left, and no other id', async () => {
    const id = await recording(({ statements }) => Promise.resolve(statements[0]?.id ?? ''))

    for (const unknown of [id, crypto.randomUUID()])
      await expect
        .poll(() => client.statements.explain({ id: unknown }).catch(codeOf), PATIENCE)
        .toBe('NOT_FOUND')
  })

  test.each([[{ id: 'select 1' }], [{ text: 'select 1' }], [{ id: '0', text: 'drop table shelves' }]])(
    'does not read a text of a client: %j',
    async (json) => {
      const { status } = await ask(
        'POST',
        '/rpc/statements/explain',
        { cookie, origin, 'content-type': 'application/json' },
        JSON.stringify({ json }),
      )

      expect(status).toBe(400)
    },
  )

  test.each([
    ['select 1; drop table shelves', 'semicolon'],
    ['select 1; commit; drop table shelves', 'semicolon'],
    ['drop table shelves', 'syntax error'],
    ['create table stolen as select 1', 'syntax error'],
    ['explain analyze delete from users', 'syntax error'],
    ['commit', 'syntax error'],
    ['select nothing from shelves', 'does not exist'],
  ])('does not execute %j', async (text, reason) => {
    const error: unknown = await explain(db, text).catch((thrown: unknown) => thrown)

    expect(toErrorMessage(error)).toContain(reason)
    expect(await countShelves()).toBeDefined()
  })

  test.each([
    `insert into users (id, name, email) values ('planned', $1, 'planned@example.com')`,
    `with made as (insert into users (id, name, email) values ('planned', 'n', 'p@example.com') returning id) select id from made`,
    `update users set id = 'planned' where id = $1`,
    `delete from users`,
    `select setval('audit_id_seq', 999), pg_notify('planned', 'x'), set_config('planned.seen', 'yes', false)`,
  ])('leaves no trace of %s', async (text) => {
    await db.execute(sql`insert into users (id, name, email) values ('kept', 'k', 'kept@example.com')
      on conflict do nothing`)
    const stateOf = () =>
      db
        .select({
          state: sql`(select count(*) from users) || ' ' || (select last_value from audit_id_seq)
          || ' ' || coalesce(current_setting('planned.seen', true), '')`,
        })
        .from(sql`(values (1)) as one`)
    const before = await stateOf()

    expect((await explain(db, text)).length).toBeGreaterThan(0)

    expect(await stateOf()).toEqual(before)
  })

  test('leaves no prepared statement and no setting in a connection, also after an error', async () => {
    await explain(db, 'select * from users where id = $1')
    await explain(db, 'select broken').catch(() => undefined)

    const prepared = await db.transaction((tx) =>
      tx.select({ name: sql`name` }).from(sql`pg_prepared_statements where name like 'console%'`),
    )
    expect(prepared).toEqual([])
  })

  test('reads no value of an immutable function that writes', async () => {
    await db.execute(sql`create table traces (id int)`)
    await db.execute(sql`create function trace() returns int language plpgsql immutable
      as $$ begin insert into traces values (1); return 1; end $$`)

    await expect(explain(db, 'select * from users where 1 = trace()')).rejects.toThrow()

    const rows = await db.select({ id: sql`id` }).from(sql`traces`)
    expect(rows).toEqual([])
  })
})
