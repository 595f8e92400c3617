import { laws } from 'tallystick-dev/testing/laws'

import type { Client } from '../contract/client.ts'
import { app } from '../src/app.ts'

const content = { title: 'Title', body: '' }
const share = { email: 'x@example.com', role: 'reader' } as const
const absent = { id: '00000000-0000-7000-8000-000000000000' }

type People = Record<'ada' | 'administrator', Client>

async function prepare({ ada, administrator }: People, text: string) {
  const task = await ada.tasks.create({ taskTitle: text, taskDesc: text })
  const { id: noteId } = await ada.notes.create({ title: text, body: text })
  await ada.notes.share({ id: noteId, ...share })
  await ada.notes.share({ id: noteId, email: 'y@example.com', role: 'editor' })
  const legacyNote = await ada.legacyNotes.create({ newNote: text })
  const { id: sharedId } = await administrator.notes.create(content)
  await administrator.notes.share({ id: sharedId, email: (await ada.account.get()).email, role: 'reader' })
  return { taskId: task.id, noteId, sharedId, number: legacyNote.id, text }
}

/** Bob reads a note of Ada. */
const shared = async (bob: Client, id: string) => ({ id, email: (await bob.account.get()).email })

laws(app, {
  prepare,
  calls: {
    'counter.get': ({ counter }) => counter.get(),
    'counter.increment': ({ counter }) => counter.increment(),
    'counter.decrement': ({ counter }) => counter.decrement(),
    'counter.set': ({ counter }) => counter.set({ inputValue: 7 }),
    'counter.fragment': ({ counter }) => counter.fragment(),
    'counter.reset': async ({ counter }) => {
      await counter.set({ inputValue: 7 })
      return counter.reset()
    },
    'tasks.list': [
      ({ tasks }) => tasks.list(),
      ({ tasks }, { text }) => tasks.list({ status: 'pending', q: text }),
      ({ tasks }) => tasks.list({ q: 'text-' }),
    ],
    'tasks.create': ({ tasks }) => tasks.create({ taskTitle: 'Title', taskDesc: 'Description' }),
    'tasks.get': ({ tasks }, { taskId }) => tasks.get({ id: taskId }),
    'tasks.update': ({ tasks }, { taskId }) =>
      tasks.update({ id: taskId, title: 'New', description: 'New', status: 'completed' }),
    'tasks.delete': ({ tasks }, { taskId }) => tasks.delete({ id: taskId }),
    'tasks.reset': ({ tasks }) => tasks.reset(),
    'notes.list': [
      ({ notes }) => notes.list(),
      ({ notes }, { text }) => notes.list({ q: text }),
      ({ notes }) => notes.list({ q: 'text-' }),
    ],
    'notes.create': ({ notes }) => notes.create(content),
    'notes.update': ({ notes }, { noteId }) => notes.update({ id: noteId, ...content }),
    'notes.share': ({ notes }, { noteId }) => notes.share({ id: noteId, ...share, role: 'editor' }),
    'notes.shares': ({ notes }, { noteId }) => notes.shares({ id: noteId }),
    'notes.unshare': ({ notes }, { noteId }) => notes.unshare({ id: noteId, email: share.email }),
    'notes.leave': ({ notes }, { sharedId }) => notes.leave({ id: sharedId }),
    'notes.delete': ({ notes }, { noteId }) => notes.delete({ id: noteId }),
    'legacyNotes.list': ({ legacyNotes }) => legacyNotes.list(),
    'legacyNotes.create': ({ legacyNotes }) => legacyNotes.create({ newNote: 'Text' }),
    'legacyNotes.delete': ({ legacyNotes }, { number }) => legacyNotes.delete({ id: number }),
    'legacyNotes.reset': ({ legacyNotes }) => legacyNotes.reset(),
    'reservations.create': ({ reservations }) => reservations.create({ name: 'Ada', guests: 2 }),
  },
  shared: {
    'counter.get': { count: 'All callers read and change one counter.' },
    'counter.fragment': { count: 'As in counter.get.', html: 'As in counter.get.' },
  },
  volatile: {
    'counter.fragment': { renderedAt: 'The time of the answer.' },
  },
  relations: {
    'a reader of a note': {
      begin: async ({ ada, bob, fixture }) =>
        ada.notes.share({ ...(await shared(bob, fixture.noteId)), role: 'reader' }),
      end: async ({ ada, bob, fixture }) => ada.notes.unshare(await shared(bob, fixture.noteId)),
    },
    'a reader who leaves': {
      begin: async ({ ada, bob, fixture }) =>
        ada.notes.share({ ...(await shared(bob, fixture.noteId)), role: 'reader' }),
      end: ({ bob, fixture }) => bob.notes.leave({ id: fixture.noteId }),
    },
    'an editor of a note': {
      begin: async ({ ada, bob, fixture }) =>
        ada.notes.share({ ...(await shared(bob, fixture.noteId)), role: 'editor' }),
      end: ({ ada, fixture }) => ada.notes.delete({ id: fixture.noteId }),
    },
  },
  errors: {
    'counter.increment CONFLICT': async ({ ada }) => {
      await ada.counter.set({ inputValue: Number.MAX_SAFE_INTEGER })
      return ada.counter.increment()
    },
    'counter.decrement CONFLICT': async ({ ada }) => {
      await ada.counter.set({ inputValue: Number.MIN_SAFE_INTEGER })
      return ada.counter.decrement()
    },
    'tasks.get NOT_FOUND': ({ ada }) => ada.tasks.get({ id: 0 }),
    'tasks.update NOT_FOUND': ({ ada }) => ada.tasks.update({ id: 0 }),
    'notes.update NOT_FOUND': ({ ada }) => ada.notes.update({ ...absent, ...content }),
    'notes.share NOT_FOUND': ({ ada }) => ada.notes.share({ ...absent, ...share }),
    'notes.shares NOT_FOUND': ({ ada }) => ada.notes.shares(absent),
    'notes.unshare NOT_FOUND': ({ ada }) => ada.notes.unshare({ ...absent, ...share }),
    'notes.leave NOT_FOUND': ({ ada }) => ada.notes.leave(absent),
    'notes.delete NOT_FOUND': ({ ada }) => ada.notes.delete(absent),
    'reservations.create INVALID_RESERVATION': ({ ada }) => ada.reservations.create({ name: '', guests: 0 }),
  },
})
