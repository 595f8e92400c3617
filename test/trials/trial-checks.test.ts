import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'

import { createRestClient } from '../../contract/client.ts'
import { startService } from '../fixtures/service.ts'
import { createCheckedClient, type Recording } from './checked-client.ts'
import { ExpectedRows } from './expected-rows.ts'
import type { RequestKind, RequestRecord } from './load-request.ts'
import { verifyLoad } from './load-verification.ts'
import { MessageParser } from './pg-messages.ts'

const service = await startService()
let reply: (response: ServerResponse) => void = () => undefined
const server = createServer((_, response) => {
  reply(response)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const [own, friend, stranger] = ['mk0000000000000001', 'mk0000000000000002', 'mk0000000000000003']
const markers = [own, friend, stranger]

/** Calls `tasks.list` on a server that sends the given response. Returns the faults that the client records. */
async function faultsOf(status: number, body: unknown) {
  reply = (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const recording: Recording = {
    operations: [],
    succeeded: 0,
    faults: [],
    owners: new Map(markers.map((marker) => [marker, marker])),
  }
  const { attempt, fetch } = createCheckedClient(recording, own, friend)
  const client = createRestClient(origin, { fetch })
  await attempt('tasks.list', () => client.tasks.list())
  return recording.faults
}

const times = { createdAt: 1, updatedAt: 1 }
const listOf = (title: string, more: object = {}) => ({
  tasks: [{ id: 1, userId: 'x', title, description: null, status: 'pending', ...times, ...more }],
  taskCount: 1,
})
const outage = {
  defined: false,
  code: 'SERVICE_UNAVAILABLE',
  status: 503,
  message: 'Unavailable',
  error: 'Unavailable',
}

describe('checked client', () => {
  test.each<[string, number, unknown]>([
    ['a response with the own data of the caller', 200, listOf(`${own} task`)],
    ['an outage', 503, outage],
  ])('accepts %s', async (_, status, body) => {
    expect(await faultsOf(status, body)).toEqual([])
  })

  test.each<[string, number, unknown]>([
    ['the text of a stranger', 200, listOf(`${stranger} task`)],
    ['the task of a friend, who shares only notes', 200, listOf(`${friend} task`)],
    ['an undeclared field', 200, listOf(`${own} task`, { version: 1 })],
    ['a row that is null', 200, { tasks: [null], taskCount: 1 }],
    ['an internal error', 500, { ...outage, code: 'INTERNAL_SERVER_ERROR', status: 500 }],
    ['an error in another format', 503, { oops: true }],
  ])('reports %s', async (_, status, body) => {
    expect(await faultsOf(status, body)).not.toEqual([])
  })
})

describe('expected rows', () => {
  const createRows = () => {
    const rows = new ExpectedRows()
    Object.assign(rows.add('kept', 'new'), { mayBeAbsent: false })
    rows.add('open', 'text')
    return rows
  }
  const rows = [{ title: 'kept', text: 'new' }]

  test.each([
    ['a row without a response that exists', [...rows, { title: 'open', text: 'text' }]],
    ['a row without a response that is absent', rows],
  ])('accept %s', (_, rows) => {
    expect(createRows().compare(rows)).toEqual({ lost: 0, doubled: 0, wrong: [] })
  })

  test.each([
    ['lost', [], { lost: 1 }],
    ['doubled', [...rows, ...rows], { doubled: 1 }],
    ['reverted', [{ title: 'kept', text: 'old' }], { wrong: ['kept  old'] }],
    ['never sent', [...rows, { title: 'other', text: '' }], { wrong: ['other  '] }],
    [
      'shared with another role',
      [{ title: 'kept', text: 'new', role: 'editor' as const }],
      { wrong: ['kept editor new'] },
    ],
  ])('report a row that was %s', (_, rows, found) => {
    expect(createRows().compare(rows)).toMatchObject(found)
  })
})

describe('load verification', () => {
  const entry = (kind: RequestKind, outcome: RequestRecord['outcome']): RequestRecord => ({
    kind,
    outcome,
    title: 'never sent',
    id: 1,
    origin,
    endedAt: 0,
    duration: 1,
  })
  const { databaseUrl } = service

  test.each<[RequestKind]>([
    ['createTask'],
    ['createNote'],
    ['createTaskOnce'],
    ['updateTask'],
    ['shareNote'],
  ])('reports an acknowledged %s that the database does not contain', async (kind) => {
    expect(await verifyLoad([entry(kind, 'answered')], databaseUrl)).toMatchObject({ lost: 1, doubled: 0 })
    expect(await verifyLoad([entry(kind, 'refused')], databaseUrl)).toMatchObject({ lost: 0, doubled: 0 })
  })

  test('reports a task that one key created twice', async () => {
    const { client } = service
    const ada = client({ cookie: await service.signIn('ada@example.com') })
    for (const _ of ['once', 'twice']) await ada.tasks.create({ taskTitle: 'never sent' })

    expect(await verifyLoad([entry('createTaskOnce', 'answered')], databaseUrl)).toMatchObject({
      lost: 0,
      doubled: 1,
    })
  })
})

describe('PostgreSQL messages', () => {
  const message = (type: string, length: number) => {
    const bytes = Buffer.alloc(5 + length)
    bytes.write(type, 'latin1')
    bytes.writeInt32BE(4 + length, 1)
    return bytes
  }

  test.each([1, 3, 1000])('have the right boundaries in pieces of %d bytes', (size) => {
    const startup = Buffer.alloc(20)
    startup.writeInt32BE(20)
    const bytes = Buffer.concat([startup, message('P', 3), message('S', 0), message('B', 7)])
    const messages = new MessageParser('client')
    const ends: number[] = []
    for (let at = 0; at < bytes.length; at += size)
      for (const end of messages.read(bytes.subarray(at, at + size))) ends.push(at + end)

    expect(ends).toEqual([20, 28, 33, 45])
  })

  test('report an error in the middle of a result', () => {
    const messages = new MessageParser('server')
    messages.read(Buffer.concat([message('T', 4), message('D', 9)]))
    expect(messages.inResult).toBe(true)
    messages.read(message('E', 4))

    expect(messages).toMatchObject({ inResult: false, interruptedResults: 1 })
  })
})
