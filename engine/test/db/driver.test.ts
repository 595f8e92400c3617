import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'

import {
  codeOf,
  connect,
  createTable,
  deferred,
  pidOf,
  proxied,
  runDueCallbacks,
  server,
} from '../fixtures/driver.ts'

// Each test verifies one change of engine/db/patches/postgres+3.4.9.patch, and fails without this change. If the change fixes
// a known issue of postgres.js, the title contains the number of the issue.

describe('a transaction', () => {
  test('rejects a statement after its connection closed (#1216)', async () => {
    const { admin, name } = await createTable('n int')
    const { proxy, sql } = await proxied()
    const late = deferred<unknown>()

    const transaction = codeOf(
      sql.begin(async (tx) => {
        await tx`insert into ${tx(name)} values (1)`
        proxy.reset()
        while ((await codeOf(sql`select 1`)) !== 'no error') await sleep(1)
        late.resolve(await codeOf(tx`insert into ${tx(name)} values (2)`))
      }),
    )

    expect(await transaction).toMatch(/ECONNRESET|CONNECTION_CLOSED/)
    expect(await late.promise).toBe('CONNECTION_CLOSED')
    expect(await admin`select * from ${admin(name)}`).toEqual([])
  })

  test('rejects the statements that wait for its connection when that closes (#1216)', async () => {
    const { proxy, sql } = await proxied()
    const late = deferred<unknown[]>()

    const transaction = codeOf(
      sql.begin(async (tx) => {
        const received = proxy.receives('pg_sleep')
        const both = [codeOf(tx`select pg_sleep(${10}::int)`), codeOf(tx`select 2`)]
        await received
        proxy.reset()
        late.resolve(await Promise.all(both))
      }),
    )

    expect(await transaction).not.toBe('no error')
    expect(await late.promise).toEqual([expect.any(String), 'CONNECTION_CLOSED'])
  })

  test('rejects a statement after its end (#1216)', async () => {
    const { admin, name } = await createTable('n int')
    const sql = connect(server)
    const ended = deferred<undefined>()
    let late: Promise<unknown> | undefined

    const transaction = sql.begin((tx) => {
      late = ended.promise.then(() => codeOf(tx`insert into ${tx(name)} values (1)`))
      throw new Error('Rolled back')
    })
    await expect(transaction).rejects.toThrow('Rolled back')
    ended.resolve(undefined)

    expect(await late).toBe('TRANSACTION_ENDED')
    expect(await admin`select * from ${admin(name)}`).toEqual([])
  })

  test('has exclusive use of its connection when the pipeline is full (#1216)', async () => {
    const sql = connect(server, { max_pipeline: 2 })
    await sql`select 1`

    const answers = await Promise.all([
      sql`select 1 as n, pg_sleep(0.1)::text as slept`.execute(),
      sql`select 2 as n`.execute(),
      sql.begin((tx) => tx`select 3 as n`),
      sql`select 4 as n`,
    ])

    expect(answers.map(([row]) => row?.n as number)).toEqual([1, 2, 3, 4])
  })
})

describe('a statement that fails', () => {
  test('leaves no row in the next result, and closes the connection (#1119, #1181)', async () => {
    const sql = connect(server)
    const pid = await pidOf(sql)

    const [failed, next] = await Promise.allSettled([
      sql`select 1 / (3 - n) from generate_series(1, 5) n`,
      sql`select n from generate_series(1, 2) n`,
    ])

    expect(failed).toMatchObject({ reason: { code: '22012' } })
    expect(next).toMatchObject({ value: [{ n: 1 }, { n: 2 }] })
    expect(await pidOf(sql)).not.toBe(pid)
  })

  test('before it is sent does not affect the results of others (#1181)', async () => {
    const sql = connect(server)
    const echo = (at: Date) => sql`select ${at}::timestamptz as at`
    await echo(new Date(0))

    const [first, failed, ...others] = await Promise.allSettled([
      sql`select 1 as n`,
      echo(new Date(NaN)),
      sql`select 2 as n`,
      sql`select 3 as n`,
    ])

    expect(failed).toMatchObject({ reason: expect.any(RangeError) as RangeError })
    expect(first).toMatchObject({ value: [{ n: 1 }] })
    expect(others).toMatchObject([{ value: [{ n: 2 }] }, { value: [{ n: 3 }] }])
  })

  test('because of a changed table is sent again with the same values, and receives no rows of others (#1181, #1197)', async () => {
    const { admin, name } = await createTable('n int')
    await admin`insert into ${admin(name)} values (1)`
    const sql = connect(server)
    const key = Math.floor(Math.random() * 2 ** 31)
    const ask = () =>
      sql`select n, ${true}::boolean as yes, ${{ a: 1 } as never}::jsonb as doc from ${sql(name)}`
    await ask()
    await admin`alter table ${admin(name)} alter n type text`
    await admin`select pg_advisory_lock(${key})`

    const again = ask()
    const blocked = sql`select pg_advisory_lock(${sql.unsafe(String(key))})::text as lock`
    const both = Promise.all([again, blocked])
    const waiting = () =>
      admin`select 1 from pg_locks where locktype = 'advisory' and objid = ${key} and not granted`
    while ((await waiting()).length === 0) await sleep(1)
    const next = sql`select 'next' as name`
    const all = Promise.all([both, next])
    await runDueCallbacks()
    await admin`select pg_advisory_unlock(${key})`

    expect(await all).toEqual([[[{ n: '1', yes: true, doc: { a: 1 } }], [{ lock: '' }]], [{ name: 'next' }]])
  })
})

describe('a pool', () => {
  test('does not grow while its connections are busy (no upstream issue)', async () => {
    const { default: createQueue } = (await import(
      // @ts-expect-error -- the package exports no types for this file
      '../../../node_modules/postgres/src/queue.js'
    )) as { default: (initial: object[]) => Queue }
    const queue = createQueue([{}, {}])
    for (let turn = 0; turn < 1000; turn++) queue.push(queue.shift())
    const search = vi.spyOn(Array.prototype, 'indexOf')

    queue.remove({})

    const [searched = []] = search.mock.contexts as unknown[][]
    search.mockRestore()
    expect(queue.length).toBe(2)
    expect(searched.length).toBeLessThan(10)
  })
})

interface Queue {
  length: number
  push: (connection: object) => void
  shift: () => object
  remove: (connection: object) => void
}

describe('a row', () => {
  test('contains the texts that PostgreSQL sent, ASCII or not (no upstream issue)', async () => {
    const sql = connect(server)
    const Text = fc.string({
      unit: fc.constantFrom('a', ' ', '"', '\n', '\x7f', 'é', '語', '🙂'),
      maxLength: 300,
    })
    const Texts = fc.array(fc.option(Text), { minLength: 3, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(fc.array(Texts, { minLength: 1, maxLength: 5 }), async (rows) => {
        const values = rows.map(
          (_, row) => `(${row}, ${[1, 2, 3].map((n) => `$${row * 3 + n}::text`).join()})`,
        )
        const received = await sql.unsafe(`values ${values.join()}`, rows.flat()).values()
        expect([...received]).toEqual(rows.map((texts, row) => [row, ...texts]))
      }),
    )
  })
})
