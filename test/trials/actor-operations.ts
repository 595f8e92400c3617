import { randomUUID } from 'node:crypto'

import type { CallContext } from '../../contract/client.ts'
import { attempt, insist, type Person, type Scene } from './actors.ts'
import { isAlike, type Row, type Thing, type Things } from './expected-rows.ts'

/** One operation of one person, or a few that belong together. */
export type Work = (person: Person, scene: Scene, turn: number) => Promise<unknown>

/** How many tasks, and how many notes, a person keeps. */
const KEPT = 15

type Send<Value> = (call: { context: Required<CallContext> }) => Promise<Value>

const callWith = (headers: Record<string, string>) => ({
  context: { headers, reply: new Map<string, string | string[]>() },
})
const tagOf = ({ context: { reply } }: ReturnType<typeof callWith>) => reply.get('etag')?.toString()

/** Creates a thing once, by repeating the request under one key until it is answered; then once more. */
async function createOnce(person: Person, operation: string, thing: Thing, send: Send<{ id: Thing['id'] }>) {
  const call = callWith({ 'idempotency-key': randomUUID() })
  const made = (await insist(person, operation, () => send(call), ['UNDER_WAY'])).value
  if (!made) return
  const again = (await attempt(person, operation, () => send(call), ['UNDER_WAY'])).value
  if (again && again.id !== made.id) person.witness.fault(`${operation} was done twice for one key`)
  Object.assign(thing, { id: made.id, mayLack: false, tag: tagOf(call) })
}

interface Change<State, Value> {
  thing: Thing
  /** The states that the database may hold. */
  possible: State[]
  next: State
  /** Reads the state from an answer. */
  read: (value: Value) => string
}

/**
 * Changes a thing under If-Match. After a request without an answer the thing is not changed again: its state is unknown
 * for as long as the request may still be under way.
 */
async function change<State extends string, Value>(
  person: Person,
  operation: string,
  { thing, possible, next, read }: Change<State, Value>,
  send: Send<Value>,
) {
  const call = callWith({ 'if-match': thing.tag ?? '' })
  thing.tag = undefined
  possible.push(next)
  const { code, value } = await attempt(person, operation, () => send(call))
  if (code !== 'OK' || !value) return
  if (read(value) !== next) person.witness.fault(`${operation} answered ${read(value)} for ${next}`)
  possible.splice(0, possible.length - 1)
  thing.tag = tagOf(call)
}

/** One of the things that can be changed, each in its turn. */
function inTurn(things: Things, turn: number) {
  const tagged = things.kept().filter(({ tag }) => tag !== undefined)
  return tagged[turn % tagged.length]
}

/** Deletes the oldest thing, if there are many. */
async function deleteOldest(person: Person, things: Things, send: (thing: Thing) => Promise<unknown>) {
  const kept = things.kept()
  const [thing] = kept
  if (!thing || kept.length < KEPT) return
  thing.mayLack = true
  await send(thing)
  things.remove(thing)
}

/** Compares the rows of an answer with what the person was told. */
export function check({ witness }: Person, things: Things, what: string, rows?: readonly Row[]) {
  const differences = rows && things.compare(rows)
  if (differences && !isAlike(differences)) witness.fault(`${what} showed ${JSON.stringify(differences)}`)
}

interface Described {
  title: string
  description: string | null
}
export const taskRow = ({ title, description }: Described): Row => ({
  title,
  text: description ?? '',
})
/** A note as its first form shows it: the title stands before a body that does not begin with it. */
const firstFormRow = ({ text }: { text: string }): Row => {
  const [title = '', body = title] = text.split('\n\n')
  return { title, text: body }
}

const tasks = {
  'create task': async (person) => {
    const title = person.title('task')
    const thing = person.tasks.add(title, '')
    const call = callWith({})
    const made = await attempt(person, 'tasks.create', () =>
      person.client.tasks.create({ taskTitle: title }, call),
    )
    if (made.value) Object.assign(thing, { id: made.value.id, mayLack: false, tag: tagOf(call) })
  },
  'create task once': (person) => {
    const [taskTitle, taskDesc] = [person.title('task'), person.title('text')]
    const thing = person.tasks.add(taskTitle, taskDesc)
    return createOnce(person, 'tasks.create', thing, (call) =>
      person.client.tasks.create({ taskTitle, taskDesc }, call),
    )
  },
  'change task': async (person, _, turn) => {
    const thing = inTurn(person.tasks, turn)
    if (!thing) return
    const next = person.title('text')
    const changes = { id: Number(thing.id), description: next }
    await change(
      person,
      'tasks.update',
      { thing, possible: thing.texts, next, read: (task: Described) => taskRow(task).text },
      (call) => person.client.tasks.update(changes, call),
    )
  },
  'read task': async (person, _, turn) => {
    const kept = person.tasks.kept()
    const thing = kept[turn % kept.length]
    if (!thing) return
    const { value } = await attempt(person, 'tasks.get', () =>
      person.client.tasks.get({ id: Number(thing.id) }),
    )
    if (value && !(value.title === thing.title && thing.texts.includes(value.description ?? '')))
      person.witness.fault(`tasks.get showed ${value.title} for ${thing.title}`)
  },
  'delete task': (person) =>
    deleteOldest(person, person.tasks, ({ id }) =>
      insist(person, 'tasks.delete', () => person.client.tasks.delete({ id: Number(id) })),
    ),
  'list tasks': async (person) => {
    const { value } = await attempt(person, 'tasks.list', () => person.client.tasks.list())
    check(person, person.tasks, 'tasks.list', value?.tasks.map(taskRow))
  },
} satisfies Record<string, Work>

const notes = {
  'create note once': (person) => {
    const [title, body] = [person.title('note'), person.title('text')]
    const thing = person.notes.add(title, body)
    return createOnce(person, 'notes.create', thing, (call) =>
      person.client.notes.create({ title, body }, call),
    )
  },
  'create first-form note once': (person) => {
    const newNote = person.title('note')
    const thing = person.notes.add(newNote, newNote)
    return createOnce(person, 'legacyNotes.create', thing, (call) =>
      person.client.legacyNotes.create({ newNote }, call),
    )
  },
  'change note': async (person, _, turn) => {
    const thing = inTurn(person.notes, turn)
    if (!thing) return
    const next = person.title('text')
    const content = { id: String(thing.id), title: thing.title, body: next }
    await change(
      person,
      'notes.update',
      { thing, possible: thing.texts, next, read: ({ body }: { body: string }) => body },
      (call) => person.client.notes.update(content, call),
    )
  },
  'share note': async (person, _, turn) => {
    const thing = inTurn(person.notes, turn)
    if (!thing) return
    const role = thing.roles.includes('reader') ? 'editor' : 'reader'
    const share = { id: String(thing.id), email: person.friendEmail, role } as const
    const read = ({ sharedWith }: { sharedWith: number }) =>
      sharedWith === 1 ? role : `shared with ${sharedWith}`
    await change(person, 'notes.share', { thing, possible: thing.roles, next: role, read }, (call) =>
      person.client.notes.share(share, call),
    )
  },
  'delete note': (person) =>
    deleteOldest(person, person.notes, ({ id }) =>
      typeof id === 'number'
        ? insist(person, 'legacyNotes.delete', () => person.client.legacyNotes.delete({ id }))
        : insist(person, 'notes.delete', () => person.client.notes.delete({ id }), ['NOT_FOUND']),
    ),
  'list notes': async (person) => {
    const { value } = await attempt(person, 'notes.list', () => person.client.notes.list())
    const own = value?.notes.filter(({ mine }) => mine)
    check(
      person,
      person.notes,
      'notes.list',
      own?.map(({ title, body }) => ({ title, text: body })),
    )
  },
  'list first-form notes': async (person) => {
    const { value } = await attempt(person, 'legacyNotes.list', () => person.client.legacyNotes.list())
    check(person, person.notes, 'legacyNotes.list', value?.notes.map(firstFormRow))
  },
} satisfies Record<string, Work>

const account = {
  'read account': async (person) => {
    const { value } = await attempt(person, 'account.get', () => person.client.account.get())
    if (value && value.email !== person.email) person.witness.fault(`account.get showed ${value.email}`)
  },
  'list sessions': async (person) => {
    const { value } = await attempt(person, 'sessions.list', () => person.client.sessions.list())
    if (value && !value.sessions.some(({ isCurrent }) => isCurrent))
      person.witness.fault('sessions.list lacked the current session')
  },
  export: async (person) => {
    const { value } = await attempt(person, 'account.export', () => person.client.account.export())
    check(person, person.tasks, 'account.export', value?.tasks.map(taskRow))
    const notes = value?.notes.map(({ title, body, sharedWith: [share] }) => ({
      title,
      text: body,
      role: share?.role ?? ('none' as const),
    }))
    check(person, person.notes, 'account.export', notes)
  },
} satisfies Record<string, Work>

const counter = {
  'count up': async (person, { steps }) => {
    const { value } = await attempt(person, 'counter.increment', () => person.client.counter.increment())
    if (value) steps.values.push(value.count)
    else steps.open++
  },
  'read counter': async (person, { steps }) => {
    const least = steps.values.at(-1) ?? 0
    const { value } = await attempt(person, 'counter.get', () => person.client.counter.get())
    if (value && value.count < least) person.witness.fault(`counter.get showed ${value.count} after ${least}`)
  },
} satisfies Record<string, Work>

/** What every person does. */
export const mix = { ...tasks, ...notes, ...account, ...counter }
