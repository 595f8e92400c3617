import { once } from 'node:events'
import { connect as connectTcp, Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import postgres from 'postgres'
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest'

import { errorResponse, message, readyForQuery, type Script, startProxy } from '../fixtures/proxy.ts'

// Each test verifies one change of db/patches/postgres+3.4.9.patch, and fails without this change. If the change fixes
// a known issue of postgres.js, the title contains the number of the issue.

const server = inject('postgres').url
const port = Number(new URL(server).port)

/** Creates a client with at most one connection. */
function connect(url: string, options: object = {}) {
  const sql = postgres(url, { max: 1, fetch_types: false, backoff: () => 0, ...options })
  onTestFinished(() => sql.end({ timeout: 0 }))
  return sql
}

async function proxied(scripts: (Script | undefined)[] = [], options: object = {}) {
  const proxy = await startProxy(server, scripts)
  onTestFinished(proxy.close)
  return { proxy, sql: connect(proxy.url, options) }
}

/** Creates a table for one test. Returns the name of the table, and a connection without a proxy. */
async function createTable(columns: string) {
  const admin = connect(server)
  const name = `driver_${crypto.randomUUID().replaceAll('-', '')}`
  await admin.unsafe(`create table ${name} (${columns})`)
  onTestFinished(async () => {
    await admin.unsafe(`drop table ${name}`)
  })
  return { admin, name }
}

const codeOf = (query: PromiseLike<unknown>) =>
  query.then(
    () => 'no error',
    (error: unknown) => (error as { code?: unknown }).code,
  )

function deferred<Value>() {
  let [resolve, reject]: [(value: Value) => void, (error: Error) => void] = [() => undefined, () => undefined]
  const promise = new Promise<Value>((...both) => ([resolve, reject] = both))
  return { promise, resolve, reject }
}

const pidOf = async (sql: postgres.Sql) =>
  (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid

describe('a closed connection', () => {
  test('rejects a statement that is sent between the error of the socket and its close (#1130)', async () => {
    const sockets: Socket[] = []
    const socket = () => sockets[sockets.push(connectTcp(port, '127.0.0.1')) - 1]
    const sql = connect(server, { socket })
    await sql`select 1`
    const running = codeOf(sql`select pg_sleep(10)`)

    setImmediate(() => sockets[0]?.destroy(Object.assign(new Error(), { code: 'ECONNRESET' })))

    expect(await running).toBe('ECONNRESET')
    expect(await codeOf(sql`select 2`)).toBe('CONNECTION_CLOSED')
    expect(await sql`select 3 as n`).toEqual([{ n: 3 }])
  })

  test('writes again after it closed with an unsent statement (#1066, #1154, #1208)', async () => {
    const tunnels: Duplex[] = []
    const socket = () => tunnels[tunnels.push(createTunnel()) - 1]
    const sql = connect(server, { socket, connect_timeout: 2 })
    await sql`select 1`
    const unsent = codeOf(sql`select 2`)

    await Promise.resolve().then(() => undefined)
    tunnels[0]?.destroy()

    expect(await unsent).toBe('CONNECTION_CLOSED')
    expect(await sql`select 3 as n`).toEqual([{ n: 3 }])
  })

  test('with TLS emits `close` on its socket (no upstream issue)', async () => {
    const socket = new Socket()
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const breakOff: Script = (client) => client.end('S')
    const { proxy } = await proxied([breakOff])
    const sql = connect(proxy.url, { ssl: 'require', socket: () => socket.connect(proxy.port, '127.0.0.1') })

    expect(await codeOf(sql`select 1`)).toBe('ECONNRESET')
    await closed
  })

  test('rejects a statement without a socket, and stays in the pool (#1066, #1154, #1208)', async () => {
    const { proxy, sql } = await proxied()
    await sql`select 1`
    const reserved = await sql.reserve()
    const closed = codeOf(reserved`select pg_sleep(10)`)
    proxy.reset()
    await closed
    await sleep(10)

    expect(await codeOf(reserved`select 1`)).toBe('CONNECTION_CLOSED')
    expect(await sql`select 2 as n`).toEqual([{ n: 2 }])
  })

  test('does not reject the next statement with the error that ended the connection (#1223)', async () => {
    const { proxy, sql } = await proxied()
    await sql`select 1`
    const received = proxy.receives('pg_sleep')
    const running = codeOf(sql`select pg_sleep(10)`)
    await received
    proxy.clients[0]?.unpipe().end(errorResponse('FATAL', '57P01'))

    expect(await running).toBe('CONNECTION_CLOSED')
    expect(await sql`select 2 as n`).toEqual([{ n: 2 }])
  })
})

async function closedSocket(error: Error) {
  const socket = new Socket().on('error', () => undefined).destroy(error)
  await new Promise((resolve) => socket.on('close', resolve))
  return socket
}

/** Creates a socket with a `destroy` that emits `close` in the same tick, before unsent bytes are written. */
function createTunnel() {
  const far = connectTcp(port, '127.0.0.1')
  const tunnel = new Duplex({
    read: () => undefined,
    write(bytes: Buffer, _, done) {
      far.write(bytes)
      done()
    },
    destroy(error, done) {
      far.destroy()
      done(error)
    },
  })
  far.on('data', (bytes) => tunnel.push(bytes))
  return tunnel
}

describe('a server that refuses connections', () => {
  test('rejects each statement with the reason, after one connection attempt for each (#1223)', async () => {
    const refuse: Script = (client) => client.end(errorResponse('FATAL', '57P03'))
    const { proxy, sql } = await proxied([undefined, refuse, refuse])
    await sql`select 1`
    const received = proxy.receives('pg_sleep')
    const running = codeOf(sql`select pg_sleep(10)`)
    await received
    proxy.reset()
    await running
    await sleep(10)

    expect(await codeOf(sql`select 2`)).toBe('57P03')
    expect(await codeOf(sql`select 3`)).toBe('57P03')
    expect(proxy.clients).toHaveLength(3)
    expect(await sql`select 4 as n`).toEqual([{ n: 4 }])
  })

  test('receives one connection attempt for all waiting statements (no upstream issue)', async () => {
    const refuse: Script = (client) => client.end(errorResponse('FATAL', '57P03'))
    const { proxy, sql } = await proxied([refuse, refuse, refuse])

    const codes = await Promise.all([codeOf(sql`select 1`), codeOf(sql`select 2`), codeOf(sql`select 3`)])

    expect(codes).toEqual(['57P03', '57P03', '57P03'])
    expect(proxy.clients).toHaveLength(1)
  })

  test('leaves the waiting statements to the other connections (no upstream issue)', async () => {
    const refuse: Script = (client) => client.end(errorResponse('FATAL', '53300'))
    const { sql } = await proxied([undefined, refuse], { max: 2 })

    await sql.begin(async (tx) => {
      await tx`select 1`
      const refused = codeOf(sql`select 2`)
      expect(await sql`select 3 as n`).toEqual([{ n: 3 }])
      expect(await refused).toBe('53300')
    })
  })

  test('rejects the statement when it closes the connection without a reason (#1188)', async () => {
    const { proxy, sql } = await proxied([(client) => client.end(message('R', 0))])

    expect(await codeOf(sql`select 1`)).toBe('CONNECTION_CLOSED')
    expect(proxy.clients).toHaveLength(1)
    expect(await sql`select 2 as n`).toEqual([{ n: 2 }])
  })

  test('causes one connection attempt at each other host (#1188)', async () => {
    const hang: Script = (client) => client.end()
    const [first, second] = [await startProxy(server, [hang, hang]), await startProxy(server, [hang])]
    onTestFinished(first.close)
    onTestFinished(second.close)
    const sql = connect(server, { host: ['127.0.0.1', '127.0.0.1'], port: [first.port, second.port] })

    expect(await codeOf(sql`select 1`)).toBe('CONNECTION_CLOSED')
    expect([first, second].map(({ clients }) => clients.length)).toEqual([1, 1])
    expect(await sql`select 2 as n`).toEqual([{ n: 2 }])
    expect([first, second].map(({ clients }) => clients.length)).toEqual([2, 2])
  })

  test('is skipped for the next host if it is a standby (#1188)', async () => {
    const greeting = ['in_hot_standby', 'default_transaction_read_only'].map((name) =>
      message('S', `${name}\0on\0`),
    )
    const { proxy } = await proxied([
      (client) => client.write(Buffer.concat([message('R', 0), ...greeting, readyForQuery])),
    ])
    const hosts = { host: ['127.0.0.1', '127.0.0.1'], port: [proxy.port, port] }
    const sql = connect(server, { ...hosts, target_session_attrs: 'primary' })

    expect(await sql`select 1 as n`).toEqual([{ n: 1 }])
    expect(proxy.clients).toHaveLength(1)
  })

  const refused = Object.assign(new Error(), { code: 'ECONNREFUSED' })
  test.each([
    ['cannot be made', () => Promise.reject(refused)],
    ['has failed already', () => closedSocket(refused)],
  ])('rejects the statement when its socket %s, and the client connects again (#1130)', async (_, fail) => {
    const attempts = [fail, () => Promise.resolve(connectTcp(port, '127.0.0.1'))]
    const sql = connect(server, { socket: () => attempts.shift()?.() })

    expect(await codeOf(sql`select 1`)).toBe('ECONNREFUSED')
    expect(await sql`select 2 as n`).toEqual([{ n: 2 }])
  })

  test('rejects the statement when its request for authentication is malformed (#1192)', async () => {
    const { sql } = await proxied([(client) => client.write(message('R', 11, 'malformed'))])

    await expect(sql`select 1`).rejects.toThrow(TypeError)
    expect(await sql`select 2 as n`).toEqual([{ n: 2 }])
  })

  test('receives no password after it closed the connection (#1154)', async () => {
    const password = deferred<string>()
    const askPassword: Script = (client) => client.end(message('R', 3))
    const { sql } = await proxied([askPassword], { password: () => password.promise })

    expect(await codeOf(sql`select 1`)).toBe('CONNECTION_CLOSED')
    password.resolve('postgres')
    expect(await sql`select 2 as n`).toEqual([{ n: 2 }])
  })

  test('receives the query for array types again after a failure (#1192, #1205)', async () => {
    const { url } = await startProxyThatRefusesTypes()
    const sql = connect(url, { fetch_types: true })

    expect(await codeOf(sql`select 1`)).toBe('57014')
    expect(await sql`select array['a', 'b'] as names`).toEqual([{ names: ['a', 'b'] }])
  })
})

/**
 * Starts a proxy that rejects the driver's query for array types (`typarray`) on the first connection. The proxy
 * forwards later connections unchanged.
 */
async function startProxyThatRefusesTypes() {
  const relaying = await startProxy(server)
  const refusing = await startProxy(relaying.url, [
    (client, startup) => {
      const far = connectTcp(relaying.port, '127.0.0.1')
      far.write(startup)
      far.on('data', (bytes) => client.write(bytes)).on('error', () => undefined)
      client.on('data', (bytes) => {
        if (!bytes.includes('typarray')) far.write(bytes)
        else client.write(Buffer.concat([errorResponse('ERROR', '57014'), readyForQuery]))
      })
      client.on('close', () => far.destroy())
    },
  ])
  onTestFinished(relaying.close)
  onTestFinished(refusing.close)
  return refusing
}

describe('sql.end', () => {
  test('resolves when the connection of the last statement closes (#1130)', async () => {
    const { proxy, sql } = await proxied()
    await sql`select 1`
    const received = proxy.receives('pg_sleep')
    const running = codeOf(sql`select pg_sleep(10)`)
    await received
    const ended = sql.end()
    await sleep(10)

    proxy.reset()

    await running
    await ended
  })

  test('resolves when no socket can be created (#1130)', async () => {
    const socket = deferred<Socket>()
    const sql = connect(server, { socket: () => socket.promise })
    const running = codeOf(sql`select 1`)
    await sleep(10)
    const ended = sql.end()
    await sleep(10)

    socket.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' }))

    expect(await running).toBe('ECONNREFUSED')
    await ended
  })

  test('closes a socket that is created afterwards (#1130)', async () => {
    const socket = deferred<Socket>()
    const sql = connect(server, { socket: () => socket.promise })
    const running = codeOf(sql`select 1`)
    await sleep(10)

    await sql.end({ timeout: 0 })
    const late = connectTcp(port, '127.0.0.1')
    socket.resolve(late)

    expect(await running).toBe('CONNECTION_DESTROYED')
    await once(late, 'close')
  })

  test('stops a waiting connection from connecting (#1130)', async () => {
    const { proxy, sql } = await proxied([(client) => client.end()], { backoff: () => 0.2 })
    await codeOf(sql`select 1`)
    const waiting = codeOf(sql`select 2`)
    await sleep(10)

    await sql.end({ timeout: 0 })

    expect(await waiting).toBe('CONNECTION_DESTROYED')
    await sleep(300)
    expect(proxy.clients).toHaveLength(1)
  })
})

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
    await sleep(10)
    await admin`select pg_advisory_unlock(${key})`

    expect(await all).toEqual([[[{ n: '1', yes: true, doc: { a: 1 } }], [{ lock: '' }]], [{ name: 'next' }]])
  })
})

describe('a pool', () => {
  test('does not grow while its connections are busy (no upstream issue)', async () => {
    const { default: createQueue } = (await import(
      // @ts-expect-error -- the package exports no types for this file
      '../../node_modules/postgres/src/queue.js'
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
