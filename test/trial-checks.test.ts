import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'

import { createRestClient } from '../contract/client.ts'
import { startService } from './service.ts'
import type { Entry, Work } from './trials/load-request.ts'
import { type Book, createWitness } from './trials/checked-client.ts'
import { settle } from './trials/load-verification.ts'
import { Messages } from './trials/pg-messages.ts'
import { Things } from './trials/expected-rows.ts'

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
const marks = [own, friend, stranger]

/** Asks a server that answers this for the caller's tasks. Returns the faults that are found. */
async function faultsOf(status: number, body: unknown) {
  reply = (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const book: Book = {
    entries: [],
    succeeded: 0,
    faults: [],
    owners: new Map(marks.map((mark) => [mark, mark])),
  }
  const { attempt, fetch } = createWitness(book, own, friend)
  const client = createRestClient(origin, { fetch })
  await attempt('tasks.list', () => client.tasks.list())
  return book.faults
}

const times = { createdAt: 1, updatedAt: 1 }
const listOf = (title: string, more: object = {}) => ({
  tasks: [{ id: 1, userId: 'x', title, description: null, status: 'pending', ...times, ...more }],
  taskCount: 1,
})
const error = { defined: false, code: 'SERVICE_UNAVAILABLE', status: 503, message: 'Away', error: 'Away' }

describe('a checked request', () => {
  test.each<[string, number, unknown]>([
    ['an answer of the caller’s own', 200, listOf(`${own} task`)],
    ['an outage', 503, error],
  ])('accepts %s', async (_, status, body) => {
    expect(await faultsOf(status, body)).toEqual([])
  })

  test.each<[string, number, unknown]>([
    ['the text of a stranger', 200, listOf(`${stranger} task`)],
    ['the text of a friend who shares notes only', 200, listOf(`${friend} task`)],
    ['an undeclared field', 200, listOf(`${own} task`, { version: 1 })],
    ['a row that is null', 200, { tasks: [null], taskCount: 1 }],
    ['a failure of the service', 500, { ...error, code: 'INTERNAL_SERVER_ERROR', status: 500 }],
    ['an error in another shape', 503, { oops: true }],
  ])('finds %s', async (_, status, body) => {
    expect(await faultsOf(status, body)).not.toEqual([])
  })
})

describe('the ledger of a trial', () => {
  const things = () => {
    const known = new Things()
    Object.assign(known.add('kept', 'new'), { mayLack: false })
    known.add('open', 'text')
    return known
  }
  const rows = [{ title: 'kept', text: 'new' }]

  test.each([
    ['a row without an answer that is there', [...rows, { title: 'open', text: 'text' }]],
    ['a row without an answer that is absent', rows],
  ])('accepts %s', (_, rows) => {
    expect(things().compare(rows)).toEqual({ lost: 0, doubled: 0, wrong: [] })
  })

  test.each([
    ['lost', [], { lost: 1 }],
    ['doubled', [...rows, ...rows], { doubled: 1 }],
    ['reverted', [{ title: 'kept', text: 'old' }], { wrong: ['kept  old'] }],
    ['never sent', [...rows, { title: 'other', text: '' }], { wrong: ['other  '] }],
    [
      'given another role',
      [{ title: 'kept', text: 'new', role: 'editor' as const }],
      { wrong: ['kept editor new'] },
    ],
  ])('finds a row that was %s', (_, rows, found) => {
    expect(things().compare(rows)).toMatchObject(found)
  })
})

describe('the ledger of the load', () => {
  const entry = (work: Work, outcome: Entry['outcome']): Entry => ({
    work,
    outcome,
    title: 'never sent',
    id: 1,
    origin,
    at: 0,
    took: 1,
  })
  const { databaseUrl } = service

  test.each<[Work]>([['task'], ['note'], ['once'], ['match'], ['share']])(
    'finds an acknowledged %s that the database does not hold',
    async (work) => {
      expect(await settle([entry(work, 'answered')], databaseUrl)).toMatchObject({ lost: 1, doubled: 0 })
      expect(await settle([entry(work, 'refused')], databaseUrl)).toMatchObject({ lost: 0, doubled: 0 })
    },
  )

  test('finds a task that one key created twice', async () => {
    const { client } = service
    const ada = client({ cookie: await service.signIn('ada@example.com') })
    for (const _ of ['once', 'twice']) await ada.tasks.create({ taskTitle: 'never sent' })

    expect(await settle([entry('once', 'answered')], databaseUrl)).toMatchObject({ lost: 0, doubled: 1 })
  })
})

describe('PostgreSQL messages', () => {
  const message = (type: string, length: number) => {
    const bytes = Buffer.alloc(5 + length)
    bytes.write(type, 'latin1')
    bytes.writeInt32BE(4 + length, 1)
    return bytes
  }

  test.each([1, 3, 1000])('are told apart when they come in pieces of %d bytes', (size) => {
    const startup = Buffer.alloc(20)
    startup.writeInt32BE(20)
    const bytes = Buffer.concat([startup, message('P', 3), message('S', 0), message('B', 7)])
    const messages = new Messages('client')
    const ends: number[] = []
    for (let at = 0; at < bytes.length; at += size)
      for (const end of messages.read(bytes.subarray(at, at + size))) ends.push(at + end)

    expect(ends).toEqual([20, 28, 33, 45])
  })

  test('tell of an error in the middle of a result', () => {
    const messages = new Messages('server')
    messages.read(Buffer.concat([message('T', 4), message('D', 9)]))
    expect(messages.inResult).toBe(true)
    messages.read(message('E', 4))

    expect(messages).toMatchObject({ inResult: false, brokenResults: 1 })
  })
})
