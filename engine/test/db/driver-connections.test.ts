import { once } from 'node:events'
import { connect as connectTcp, Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { codeOf, connect, deferred, port, proxied, runDueCallbacks, server } from '../fixtures/driver.ts'
import { errorResponse, message, readyForQuery, type Script, startProxy } from '../fixtures/proxy.ts'

// Each test verifies one change of engine/db/patches/postgres+3.4.9.patch, and fails without this change. If the change fixes
// a known issue of postgres.js, the title contains the number of the issue.

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
    const sql = connect(server, { socket, connect_timeout: 20 })
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
    await runDueCallbacks()

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
    await runDueCallbacks()

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
    await runDueCallbacks()

    proxy.reset()

    await running
    await ended
  })

  test('resolves when no socket can be created (#1130)', async () => {
    const socket = deferred<Socket>()
    const requested = deferred<undefined>()
    const sql = connect(server, {
      socket: () => {
        requested.resolve(undefined)
        return socket.promise
      },
    })
    const running = codeOf(sql`select 1`)
    await requested.promise
    const ended = sql.end()
    await runDueCallbacks()

    socket.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' }))

    expect(await running).toBe('ECONNREFUSED')
    await ended
  })

  test('closes a socket that is created afterwards (#1130)', async () => {
    const socket = deferred<Socket>()
    const sql = connect(server, { socket: () => socket.promise })
    const running = codeOf(sql`select 1`)
    await runDueCallbacks()

    await sql.end({ timeout: 0 })
    const late = connectTcp(port, '127.0.0.1')
    socket.resolve(late)

    expect(await running).toBe('CONNECTION_DESTROYED')
    await once(late, 'close')
  })

  test('stops a waiting connection from connecting (#1130)', async () => {
    const { proxy, sql } = await proxied([(client) => client.end()], { backoff: () => 0.2 })
    await codeOf(sql`select 1`)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const waiting = codeOf(sql`select 2`)
    await runDueCallbacks()

    const ended = sql.end({ timeout: 0 })
    await vi.advanceTimersByTimeAsync(1)
    await ended

    expect(await waiting).toBe('CONNECTION_DESTROYED')
    vi.advanceTimersByTime(1000)
    vi.useRealTimers()
    // A connection attempt of the first client would arrive before the attempt of this client.
    await connect(proxy.url)`select 3`
    expect(proxy.clients).toHaveLength(2)
  })
})
