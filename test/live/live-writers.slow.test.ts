import { traverseContractProcedures } from '@orpc/server'
import { afterAll, describe, expect, test, vi } from 'vitest'

import { metaOf, type Topic } from '../../engine/contract/meta.ts'
import type { Client } from '../../contract/client.ts'
import { contract, type TopicName } from '../../contract/index.ts'
import { OPERATOR } from '../../engine/db/accounts/audit.ts'
import * as grants from '../../engine/db/accounts/grants.ts'
import { createTallystick } from '../../src/testing.ts'
import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const other = await createTallystick({ DATABASE_URL: service.databaseUrl, AUTH_SECRET: 'x'.repeat(40) })
afterAll(() => other.close())

interface Writer {
  person: Client
  email: string
  /** The id of a note in the second form, of a note that a friend shares with the person, and of a task. */
  note: string
  shared: string
  task: number
  /** The token of another session of the person. */
  token: string
  /** The id of the grant of an app. */
  grant: string
}

/** An address that the note is shared with. */
const SHARED = newEmail()

/** For each procedure that updates a topic, a call that changes the state. */
const writes: Record<string, (writer: Writer) => Promise<unknown>> = {
  'account.delete': ({ person, email }) => person.account.delete({ email }),
  'counter.increment': ({ person }) => person.counter.increment(),
  'counter.decrement': ({ person }) => person.counter.decrement(),
  'counter.set': ({ person }) => person.counter.set({ inputValue: 7 }),
  'counter.reset': ({ person }) => person.counter.reset(),
  'tasks.create': ({ person }) => person.tasks.create({ taskTitle: 'New' }),
  'tasks.update': ({ person, task }) => person.tasks.update({ id: task, title: 'Changed' }),
  'tasks.delete': ({ person, task }) => person.tasks.delete({ id: task }),
  'tasks.reset': ({ person }) => person.tasks.reset(),
  'notes.create': ({ person }) => person.notes.create({ title: 'New', body: '' }),
  'notes.update': ({ person, note }) => person.notes.update({ id: note, title: 'Changed', body: '' }),
  'notes.share': ({ person, note }) => person.notes.share({ id: note, email: newEmail(), role: 'reader' }),
  'notes.unshare': ({ person, note }) => person.notes.unshare({ id: note, email: SHARED }),
  'notes.leave': ({ person, shared }) => person.notes.leave({ id: shared }),
  'notes.delete': ({ person, note }) => person.notes.delete({ id: note }),
  'legacyNotes.create': ({ person }) => person.legacyNotes.create({ newNote: 'New' }),
  'legacyNotes.delete': async ({ person }) => {
    const { notes } = await person.legacyNotes.list()
    return person.legacyNotes.delete({ id: notes[0]?.id ?? 0 })
  },
  'legacyNotes.reset': ({ person }) => person.legacyNotes.reset(),
  'sessions.revokeOthers': ({ person }) => person.sessions.revokeOthers(),
  'apps.revoke': ({ person, grant }) => person.apps.revoke({ id: grant }),
  'tokens.create': ({ person }) => person.tokens.create({ label: 'Script', scopes: ['read'] }),
  'sessions.revoke': ({ person, token }) => person.sessions.revoke({ revokeSessionToken: token }),
}

const procedures: { name: string; method: string; updates: readonly Topic[] | undefined }[] = []
traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
  const { method = 'POST' } = procedure['~orpc'].route
  procedures.push({ name: path.join('.'), method, updates: metaOf(procedure).updates })
})

/** Lists the procedures with an unsafe method that declare no topic. */
const undeclared = (all: typeof procedures) =>
  all.flatMap(({ name, method, updates }) => (method !== 'GET' && !updates ? [name] : []))

describe('a procedure that changes data', () => {
  test('declares its topic', () => {
    const advice = 'Declare the topic (`updates`) in the contract, or an empty list'
    expect(undeclared(procedures), advice).toEqual([])
    expect(procedures.filter(({ method, updates }) => method === 'GET' && updates)).toEqual([])
  })

  test('the check finds a procedure without a topic', () => {
    expect(undeclared([{ name: 'x.create', method: 'POST', updates: undefined }])).toEqual(['x.create'])
  })

  test.each(procedures.filter(({ updates }) => updates?.length))(
    '$name announces the change on another instance',
    async ({ name, updates }) => {
      const email = newEmail()
      const person = await service.person(email)
      const watcher = await other.person(email)
      const { id: task } = await person.tasks.create({ taskTitle: 'Old' })
      const { id: note } = await person.notes.create({ title: 'Old', body: '' })
      await person.notes.share({ id: note, email: SHARED, role: 'reader' })
      const friend = await service.person()
      const { id: shared } = await friend.notes.create({ title: 'Of a friend', body: '' })
      await friend.notes.share({ id: shared, email, role: 'reader' })
      await service.signIn(email)
      const { sessions } = await person.sessions.list()
      const token = sessions.find(({ isCurrent, token }) => !isCurrent && token)?.token ?? ''
      const { id: userId } = await person.account.get()
      const app = {
        userId,
        clientId: 'app',
        scope: 'read',
        userAgent: 'App',
        expiresAt: new Date(Date.now() + 60_000),
      }
      const { id: grant } = await grants.insert(service.services.db, app, OPERATOR)
      const topics = updates?.map((topic) => topic.name as TopicName) ?? []
      if (topics.includes('counter')) await service.stranger.counter.set({ inputValue: 1 })
      const events = await watcher.live.watch({ topics })
      const updated: unknown[] = []
      const read = async () => {
        for await (const { state } of events) updated.push(state)
      }
      const ended = read().catch((error: unknown) => updated.push(error))
      await vi.waitFor(() => {
        expect(updated).not.toEqual([])
      }, PATIENCE)
      const before = updated.at(-1)

      await writes[name]?.({ person, email, note, shared, task, token, grant })

      // The changes above may arrive only now, after which the same state is sent again.
      await vi.waitFor(() => {
        expect(updated.at(-1)).not.toEqual(before)
      }, PATIENCE)
      await events.return()
      await ended
    },
  )
})
