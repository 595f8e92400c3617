import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { textOf } from './live-marks.ts'
import { createRareWriters } from './live-rare-writers.ts'
import {
  createRequests,
  type Person,
  type Send,
  signInFromAnywhere,
  tokenOf,
  type WriteOptions,
  type WriterContext,
} from './live-requests.ts'

/** Pause before each new session, in milliseconds. */
const SESSION_PAUSE = 2000

/** Starts all writers. */
export function startWriters(context: WriterContext) {
  const { instances, people, marks } = context
  const requests = createRequests(context)
  const { figures, write, repeat, pause, isStopped } = requests
  const rare = createRareWriters(context, requests)

  const retry = <Value>(person: Person, send: Send<Value>, options?: WriteOptions) =>
    repeat(() => write(person, send, options))
  const remove = (person: Person, key: string, send: Send<unknown>) =>
    requests.remove(key, () => write(person, send, { expected: ['NOT_FOUND', 'SESSION_NOT_FOUND'] }))

  async function count(person: Person) {
    while (!isStopped()) {
      marks.issue('counter')
      const result = await write(person, (client, call) => client.counter.increment(undefined, call))
      if (result?.value) marks.acknowledge({ key: 'counter', version: result.value.count })
      await pause()
    }
  }

  /**
   * Changes the title of one task repeatedly. Each change has the entity tag of the version before, so that a change
   * without a response cannot replace a later change.
   */
  async function changeTask(person: Person) {
    const key = `tasks ${person.name}`
    const mark = marks.issue(key, person.name)
    const create: Send<{ id: number }> = (client, call) =>
      client.tasks.create({ taskTitle: textOf(mark) }, call)
    // The header prevents a second row if the first attempt has no response.
    const created = await retry(person, create, { headers: { 'idempotency-key': randomUUID() } })
    if (!created?.value) return
    marks.acknowledge(mark)
    const { id } = created.value
    let { tag } = created
    while (!isStopped()) {
      await pause()
      tag ??= (await write(person, (client, call) => client.tasks.get({ id }, call)))?.tag
      if (tag === undefined) continue
      const next = marks.issue(key)
      const update: Send<unknown> = (client, call) => client.tasks.update({ id, title: textOf(next) }, call)
      const options = { headers: { 'if-match': tag }, expected: ['PRECONDITION_FAILED'] }
      const result = await write(person, update, options)
      tag = result?.tag
      if (result?.value) marks.acknowledge(next)
    }
  }

  /** Creates a note in the first form, and deletes the note. */
  async function writeFirstForm(person: Person) {
    for (let turn = 0; !isStopped(); turn++) {
      await pause()
      const mark = marks.issue(`notes ${person.name} first ${turn}`, person.name)
      const send: Send<{ id: number }> = (client, call) =>
        client.legacyNotes.create({ newNote: textOf(mark) }, call)
      const created = await write(person, send)
      if (!created?.value) continue
      marks.acknowledge(mark)
      await pause()
      const { id } = created.value
      await remove(person, mark.key, (client, call) => client.legacyNotes.delete({ id }, call))
    }
  }

  /** Creates a note, shares the note with a friend, changes the note, and deletes every second note. */
  async function shareNotes(person: Person, { name, email }: Person) {
    for (let turn = 0; !isStopped(); turn++) {
      await pause()
      const mark = marks.issue(`notes ${person.name} ${turn}`, person.name)
      const { key } = mark
      const create: Send<{ id: string }> = (client, call) =>
        client.notes.create({ title: textOf(mark), body: '' }, call)
      const created = await write(person, create)
      if (!created?.value) continue
      marks.acknowledge(mark)
      const { id } = created.value
      await pause()
      marks.issueShare(key, name)
      const share: Send<unknown> = (client, call) => client.notes.share({ id, email, role: 'reader' }, call)
      if (await retry(person, share)) marks.acknowledgeShare(key, name)
      await pause()
      const next = marks.issue(key)
      const update: Send<unknown> = (client, call) =>
        client.notes.update({ id, title: textOf(next), body: '' }, call)
      if (await retry(person, update)) marks.acknowledge(next)
      await pause()
      if (turn % 4) await remove(person, key, (client, call) => client.notes.delete({ id }, call))
    }
  }

  /** Signs in once more, and revokes the new session. */
  async function changeSessions(person: Person) {
    for (let turn = 0; !isStopped(); turn++) {
      await sleep(SESSION_PAUSE)
      const instance = instances[turn % instances.length]
      const cookie = instance && (await signInFromAnywhere(instance, person.email).catch(() => undefined))
      if (cookie === undefined) continue
      const token = tokenOf(cookie)
      const key = `sessions ${token}`
      marks.adopt(key, person.name)
      await pause()
      await remove(person, key, (client, call) => client.sessions.revoke({ revokeSessionToken: token }, call))
    }
  }

  const done = Promise.all([
    ...people.slice(0, 2).map(count),
    ...people.map(changeTask),
    ...people.map(writeFirstForm),
    ...people.map((person, index) => shareNotes(person, people[(index + 1) % people.length] ?? person)),
    ...people.slice(0, 3).map(changeSessions),
    ...rare.start(),
  ])
  return {
    figures,
    /** Starts no further write. Resolves when the last request has ended. */
    stop: async () => {
      requests.stop()
      await done
    },
  }
}
