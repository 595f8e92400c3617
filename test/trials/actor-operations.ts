import { randomUUID } from 'node:crypto'

import type { CallContext } from '../../contract/client.ts'
import { type Actor, type ActorContext, attempt, retryUntilAnswered } from './actors.ts'
import { type ActualRow, type ExpectedRow, type ExpectedRows, isEmpty } from './expected-rows.ts'

/** One operation of an actor, or a fixed sequence of a few operations. */
export type ActorOperation = (actor: Actor, context: ActorContext, turn: number) => Promise<unknown>

/** Maximum number of tasks, and of notes. An actor with so many deletes the oldest task or note. */
const ROW_LIMIT = 15

type Send<Value> = (call: { context: Required<Pick<CallContext, 'headers' | 'reply'>> }) => Promise<Value>

const callWith = (headers: Record<string, string>) => ({
  context: { headers, reply: new Map<string, string | string[]>() },
})
const tagOf = ({ context: { reply } }: ReturnType<typeof callWith>) => reply.get('etag')?.toString()

/**
 * Creates a row with an `Idempotency-Key`. Repeats the request until the service answers. Then sends the request once
 * more, and compares the ids in the two responses.
 */
async function createWithKey(
  actor: Actor,
  operation: string,
  row: ExpectedRow,
  send: Send<{ id: ExpectedRow['id'] }>,
) {
  const call = callWith({ 'idempotency-key': randomUUID() })
  const created = (await retryUntilAnswered(actor, operation, () => send(call), ['UNDER_WAY'])).value
  if (!created) return
  const repeated = (await attempt(actor, operation, () => send(call), ['UNDER_WAY'])).value
  if (repeated && repeated.id !== created.id)
    actor.checked.addFault(`${operation} was executed twice for one key`)
  Object.assign(row, { id: created.id, mayBeAbsent: false, tag: tagOf(call) })
}

interface ConditionalUpdate<State, Value> {
  row: ExpectedRow
  /** The states that the row may have in the database. */
  possible: State[]
  next: State
  /** Reads the state from a response. */
  read: (value: Value) => string
}

/**
 * Updates a row with `If-Match`. After a request without a response, the actor does not update the row again: the state
 * of the row is unknown, because the request may still be running.
 */
async function updateIfMatch<State extends string, Value>(
  actor: Actor,
  operation: string,
  { row, possible, next, read }: ConditionalUpdate<State, Value>,
  send: Send<Value>,
) {
  const call = callWith({ 'if-match': row.tag ?? '' })
  row.tag = undefined
  possible.push(next)
  const { code, value } = await attempt(actor, operation, () => send(call))
  if (code !== 'OK' || !value) return
  if (read(value) !== next) actor.checked.addFault(`${operation} answered ${read(value)} for ${next}`)
  possible.splice(0, possible.length - 1)
  row.tag = tagOf(call)
}

/** Chooses one of the rows with a known entity tag, in rotation. */
function chooseTagged(rows: ExpectedRows, turn: number) {
  const tagged = rows.present().filter(({ tag }) => tag !== undefined)
  return tagged[turn % tagged.length]
}

async function deleteOldest(actor: Actor, rows: ExpectedRows, send: (row: ExpectedRow) => Promise<unknown>) {
  const present = rows.present()
  const [row] = present
  if (!row || present.length < ROW_LIMIT) return
  row.mayBeAbsent = true
  await send(row)
  rows.remove(row)
}

/** Records a fault if the rows of a response differ from the expected rows. */
export function checkRows(
  { checked }: Actor,
  rows: ExpectedRows,
  operation: string,
  actual?: readonly ActualRow[],
) {
  const differences = actual && rows.compare(actual)
  if (differences && !isEmpty(differences))
    checked.addFault(`${operation} returned ${JSON.stringify(differences)}`)
}

interface Described {
  title: string
  description: string | null
}
export const taskRow = ({ title, description }: Described): ActualRow => ({
  title,
  text: description ?? '',
})
/**
 * Splits the text of a note in the first form into title and body (docs/glossary.md describes the forms). The
 * text consists of the title, a blank line and the body. If the body begins with the title, the text is only the body.
 */
const firstFormRow = ({ text }: { text: string }): ActualRow => {
  const [title = '', body = title] = text.split('\n\n')
  return { title, text: body }
}

const tasks = {
  'create task': async (actor) => {
    const title = actor.uniqueTitle('task')
    const row = actor.tasks.add(title, '')
    const call = callWith({})
    const created = await attempt(actor, 'tasks.create', () =>
      actor.client.tasks.create({ taskTitle: title }, call),
    )
    if (created.value) Object.assign(row, { id: created.value.id, mayBeAbsent: false, tag: tagOf(call) })
  },
  'create task with key': (actor) => {
    const [taskTitle, taskDesc] = [actor.uniqueTitle('task'), actor.uniqueTitle('text')]
    const row = actor.tasks.add(taskTitle, taskDesc)
    return createWithKey(actor, 'tasks.create', row, (call) =>
      actor.client.tasks.create({ taskTitle, taskDesc }, call),
    )
  },
  'update task': async (actor, _, turn) => {
    const row = chooseTagged(actor.tasks, turn)
    if (!row) return
    const next = actor.uniqueTitle('text')
    const changes = { id: Number(row.id), description: next }
    await updateIfMatch(
      actor,
      'tasks.update',
      { row, possible: row.texts, next, read: (task: Described) => taskRow(task).text },
      (call) => actor.client.tasks.update(changes, call),
    )
  },
  'read task': async (actor, _, turn) => {
    const present = actor.tasks.present()
    const row = present[turn % present.length]
    if (!row) return
    const { value } = await attempt(actor, 'tasks.get', () => actor.client.tasks.get({ id: Number(row.id) }))
    if (value && !(value.title === row.title && row.texts.includes(value.description ?? '')))
      actor.checked.addFault(`tasks.get returned ${value.title} for ${row.title}`)
  },
  'delete task': (actor) =>
    deleteOldest(actor, actor.tasks, ({ id }) =>
      retryUntilAnswered(actor, 'tasks.delete', () => actor.client.tasks.delete({ id: Number(id) })),
    ),
  'list tasks': async (actor) => {
    const { value } = await attempt(actor, 'tasks.list', () => actor.client.tasks.list())
    checkRows(actor, actor.tasks, 'tasks.list', value?.tasks.map(taskRow))
  },
} satisfies Record<string, ActorOperation>

const notes = {
  'create note with key': (actor) => {
    const [title, body] = [actor.uniqueTitle('note'), actor.uniqueTitle('text')]
    const row = actor.notes.add(title, body)
    return createWithKey(actor, 'notes.create', row, (call) =>
      actor.client.notes.create({ title, body }, call),
    )
  },
  'create first-form note with key': (actor) => {
    const newNote = actor.uniqueTitle('note')
    const row = actor.notes.add(newNote, newNote)
    return createWithKey(actor, 'legacyNotes.create', row, (call) =>
      actor.client.legacyNotes.create({ newNote }, call),
    )
  },
  'update note': async (actor, _, turn) => {
    const row = chooseTagged(actor.notes, turn)
    if (!row) return
    const next = actor.uniqueTitle('text')
    const content = { id: String(row.id), title: row.title, body: next }
    await updateIfMatch(
      actor,
      'notes.update',
      { row, possible: row.texts, next, read: ({ body }: { body: string }) => body },
      (call) => actor.client.notes.update(content, call),
    )
  },
  'share note': async (actor, _, turn) => {
    const row = chooseTagged(actor.notes, turn)
    if (!row) return
    const role = row.roles.includes('reader') ? 'editor' : 'reader'
    const share = { id: String(row.id), email: actor.friendEmail, role } as const
    const read = ({ sharedWith }: { sharedWith: number }) =>
      sharedWith === 1 ? role : `shared with ${sharedWith}`
    await updateIfMatch(actor, 'notes.share', { row, possible: row.roles, next: role, read }, (call) =>
      actor.client.notes.share(share, call),
    )
  },
  'delete note': (actor) =>
    deleteOldest(actor, actor.notes, ({ id }) =>
      typeof id === 'number'
        ? retryUntilAnswered(actor, 'legacyNotes.delete', () => actor.client.legacyNotes.delete({ id }))
        : retryUntilAnswered(actor, 'notes.delete', () => actor.client.notes.delete({ id }), ['NOT_FOUND']),
    ),
  'list notes': async (actor) => {
    const { value } = await attempt(actor, 'notes.list', () => actor.client.notes.list())
    const own = value?.notes.filter(({ mine }) => mine)
    checkRows(
      actor,
      actor.notes,
      'notes.list',
      own?.map(({ title, body }) => ({ title, text: body })),
    )
  },
  'list first-form notes': async (actor) => {
    const { value } = await attempt(actor, 'legacyNotes.list', () => actor.client.legacyNotes.list())
    checkRows(actor, actor.notes, 'legacyNotes.list', value?.notes.map(firstFormRow))
  },
} satisfies Record<string, ActorOperation>

const account = {
  'read account': async (actor) => {
    const { value } = await attempt(actor, 'account.get', () => actor.client.account.get())
    if (value && value.email !== actor.email) actor.checked.addFault(`account.get returned ${value.email}`)
  },
  'list sessions': async (actor) => {
    const { value } = await attempt(actor, 'sessions.list', () => actor.client.sessions.list())
    if (value && !value.sessions.some(({ isCurrent }) => isCurrent))
      actor.checked.addFault('sessions.list returned no current session')
  },
  export: async (actor) => {
    const { value } = await attempt(actor, 'account.export', () => actor.client.account.export())
    checkRows(actor, actor.tasks, 'account.export', value?.tasks.map(taskRow))
    const notes = value?.notes.map(({ title, body, sharedWith: [share] }) => ({
      title,
      text: body,
      role: share?.role ?? ('none' as const),
    }))
    checkRows(actor, actor.notes, 'account.export', notes)
  },
} satisfies Record<string, ActorOperation>

const counter = {
  'increment counter': async (actor, { increments }) => {
    const { value } = await attempt(actor, 'counter.increment', () => actor.client.counter.increment())
    if (value) increments.values.push(value.count)
    else increments.unanswered++
  },
  'read counter': async (actor, { increments }) => {
    const minimum = increments.values.at(-1) ?? 0
    const { value } = await attempt(actor, 'counter.get', () => actor.client.counter.get())
    if (value && value.count < minimum)
      actor.checked.addFault(`counter.get returned ${value.count} after ${minimum}`)
  },
} satisfies Record<string, ActorOperation>

export const actorOperations = { ...tasks, ...notes, ...account, ...counter }
