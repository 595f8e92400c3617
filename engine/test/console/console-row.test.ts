import { sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { startConsole } from '../fixtures/console.ts'

describe.each([
  ['a server', {}],
  ['the embedded database', { DATABASE_URL: 'memory:' }],
])('data.row, on %s', async (_, environment: Record<string, string>) => {
  const { client, services } = await startConsole(environment)
  const { db } = services
  const rowOf = (table: string, ...key: string[]) => client.data.row({ table, key })
  const valuesOf = async (...row: Parameters<typeof rowOf>) =>
    Object.fromEntries((await rowOf(...row)).values.map(({ column, value }) => [column, value]))

  for (const id of ['person-1', 'person-2'])
    await db.execute(
      sql`insert into users (id, name, email) values (${id}, ${'N'.repeat(700)}, ${`${id}@example.com`})`,
    )
  for (const id of ['session-1', 'session-2'])
    await db.execute(sql`insert into sessions (id, token, user_id, expires_at)
      values (${id}, ${`SENTINEL-${id}`}, 'person-1', now() + interval '1 day')`)
  await db.execute(sql`insert into audit (action, outcome, actor) values ('sign-in', 'accepted', 'person-1')`)
  await db.execute(sql`insert into limits (key, points) values ('a', 1)`)
  await db.execute(
    sql`create table pairs (a int, b varchar(3), document jsonb, long text, primary key (b, a))`,
  )
  await db.execute(
    sql`insert into pairs values (1, 'x', '{"apiKey":"SENTINEL","n":1}', repeat('l', 70000)), (1, 'y', null, '')`,
  )

  test('has the whole values', async () => {
    const { name, email } = await valuesOf('users', 'person-1')

    expect([name?.length, email]).toEqual([700, 'person-1@example.com'])
  })

  test('counts the rows that refer to the row, also by the ids of accounts', async () => {
    const { referrers } = await rowOf('users', 'person-1')

    expect(referrers).toContainEqual({ table: 'sessions', column: 'user_id', value: 'person-1', count: 2 })
    expect(referrers).toContainEqual({ table: 'audit', column: 'actor', value: 'person-1', count: 1 })
    expect(referrers).toContainEqual({ table: 'loans', column: 'user_id', value: 'person-1', count: 0 })
  })

  test('counts up to a limit', async () => {
    await db.execute(sql`insert into sessions (id, token, user_id, expires_at)
      select 'many-' || number, 'many-' || number, 'person-2', now() from generate_series(1, 1200) as number`)

    const { referrers } = await rowOf('users', 'person-2')

    expect(referrers.find(({ table, column }) => table === 'sessions' && column === 'user_id')?.count).toBe(
      1000,
    )
  })

  test('has no secret, also not of the tables that refer to the row', async () => {
    const rows = [await rowOf('users', 'person-1'), await rowOf('sessions', 'session-1')]

    const text = JSON.stringify(rows)
    expect(text).not.toContain('SENTINEL')
    expect(text).not.toMatch(/device_codes|oauth_records|"token"/)
  })

  test('has a key of several columns in the order of the table, and cuts only long values', async () => {
    expect((await client.data.tables()).find(({ name }) => name === 'pairs')?.key).toEqual(['a', 'b'])
    const { values } = await rowOf('pairs', '1', 'x')

    expect(values.map(({ column, value, isCut }) => [column, value?.length, isCut])).toEqual([
      ['a', 1, false],
      ['b', 1, false],
      ['document', '{"apiKey":"(removed)","n":1}'.length, false],
      ['long', 65_536, true],
    ])
    expect((await valuesOf('pairs', '1', 'y')).long).toBe('')
  })

  test('has the whole JSON without its secrets, up to the limit', async () => {
    const bounds = [60_000, 65_536, 65_537]
    await db.execute(sql`create table wholes (id int primary key, document json)`)
    for (const [id, length] of bounds.entries()) {
      const start = '{"apiKey":"S","text":"'
      const text = `${start}${'x'.repeat(length - start.length - 2)}"}`
      await db.execute(sql`insert into wholes values (${id}, ${text}::json)`)
    }

    const found = await Promise.all(
      bounds.map(async (_, id) => (await rowOf('wholes', String(id))).values[1]),
    )

    const added = '(removed)'.length - 'S'.length
    expect(found.map((value) => [value?.value?.length, value?.isCut])).toEqual([
      [60_000 + added, false],
      [65_536, false],
      ['(too long to search for secrets)'.length, true],
    ])
  })

  test('names rows by keys of a fixed length, and links only to primary keys', async () => {
    await db.execute(
      sql`create table currencies (symbol char(3) primary key, flag bit(2) unique, number int unique)`,
    )
    await db.execute(sql`insert into currencies values ('EUR', b'10', 978)`)
    await db.execute(sql`create table prices (id int primary key, currency char(3) references currencies,
      flag bit(2) references currencies (flag), number int references currencies (number), details jsonb[])`)
    await db.execute(
      sql`insert into prices values (1, 'EUR', b'10', 978, array['{"apiKey":"SENTINEL"}'::jsonb])`,
    )

    const { referrers } = await rowOf('currencies', 'EUR')
    expect(referrers.map(({ column, value, count }) => [column, value, count])).toEqual([
      ['currency', 'EUR', 1],
      ['flag', '10', 1],
      ['number', '978', 1],
    ])
    const columns = (await client.data.tables()).find(({ name }) => name === 'prices')?.columns
    expect(columns?.map(({ references }) => references?.isKey)).toEqual([
      undefined,
      true,
      false,
      false,
      undefined,
    ])
    expect(JSON.stringify(await rowOf('prices', '1'))).not.toContain('SENTINEL')
  })

  test.each([
    ['pairs', ['1', 'xyz-cut']],
    ['pairs', ['one', 'x']],
    ['pairs', ['1']],
    ['pairs', ["1' or true --", 'x']],
    ['users', ["' or ''='"]],
    ['users', ['missing']],
    ['limits', ['a']],
    ['verifications', ['a']],
    ['pg_authid', ['10']],
    ['users; drop table users', ['a']],
  ])('does not show the row of %s with the key %j', async (table, key) => {
    await expect(rowOf(table, ...key)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
