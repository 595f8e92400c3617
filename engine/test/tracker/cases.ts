import type { Cases } from 'tallystick-dev/testing/laws'

import type { Client, contract } from './contract.ts'

async function prepare({ ada, administrator }: Record<'ada' | 'administrator', Client>, text: string) {
  const { id: guest } = await administrator.projects.create({ name: 'Of an administrator' })
  await administrator.projects.invite({ id: guest, email: (await ada.account.get()).email, role: 'viewer' })
  const { id } = await ada.projects.create({ name: text })
  const { id: other } = await ada.projects.create({ name: text })
  await ada.projects.invite({ id, email: 'x@example.com', role: 'viewer' })
  await ada.projects.invite({ id, email: 'y@example.com', role: 'agent' })
  const ticket = await ada.tickets.create({ projectId: id, title: text, dueAt: '2030-01-01', labels: [text] })
  await ada.tickets.create({ projectId: id, title: `A ${text}`, dueAt: '2031-01-01' })
  await ada.tickets.create({ projectId: other, title: text })
  await ada.comments.create({ ticketId: ticket.id, text })
  const comment = await ada.comments.create({ ticketId: ticket.id, text })
  return { id, other, guest, ticketId: ticket.id, commentId: comment.id, text }
}

const share = (role: 'agent' | 'viewer' | 'guest') => ({
  begin: async ({ ada, bob, fixture: { id } }: Scene) =>
    ada.projects.invite({ id, email: (await bob.account.get()).email, role }),
  end: async ({ ada, bob, fixture: { id } }: Scene) =>
    ada.projects.exclude({ id, email: (await bob.account.get()).email }),
})

interface Scene {
  ada: Client
  bob: Client
  fixture: Awaited<ReturnType<typeof prepare>>
}

/** Calls as Bob, who is a member with a role. */
const as =
  (role: 'viewer' | 'guest') =>
  (call: (bob: Client, fixture: Scene['fixture']) => Promise<unknown>) =>
  async (scene: Scene) => {
    await share(role).begin(scene)
    return call(scene.bob, scene.fixture)
  }
const asViewer = as('viewer')

export const cases: Cases<typeof contract, Awaited<ReturnType<typeof prepare>>> = {
  prepare,
  calls: {
    'projects.list': ({ projects }) => projects.list(),
    'projects.get': ({ projects }, { id }) => projects.get({ id }),
    'projects.create': ({ projects }) => projects.create({ name: 'New' }),
    'projects.update': ({ projects }, { id }) => projects.update({ id, name: 'Changed' }),
    'projects.delete': ({ projects }, { id }) => projects.delete({ id }),
    'projects.members': ({ projects }, { id }) => projects.members({ id }),
    'projects.invite': ({ projects }, { id }) =>
      projects.invite({ id, email: 'x@example.com', role: 'agent' }),
    'projects.exclude': ({ projects }, { id }) => projects.exclude({ id, email: 'x@example.com' }),
    'projects.leave': ({ projects }, { guest }) => projects.leave({ id: guest }),
    'tickets.list': [
      ({ tickets }) => tickets.list({}),
      ({ tickets }, { id }) => tickets.list({ projectId: id, order: 'due' }),
      ({ tickets }, { text }) => tickets.list({ q: text, status: 'open', priority: 'low' }),
    ],
    'tickets.get': ({ tickets }, { ticketId }) => tickets.get({ id: ticketId }),
    'tickets.create': ({ tickets }, { id }) =>
      tickets.create({
        projectId: id,
        title: 'New',
        dueAt: '2030-02-02',
        priority: 'high',
        labels: ['new'],
        places: [[1, 2]],
        effort: '1.50',
      }),
    'tickets.update': [
      ({ tickets }, { ticketId }) =>
        tickets.update({
          id: ticketId,
          title: 'Changed',
          status: 'closed',
          dueAt: '2030-03-03',
          priority: 'high',
          labels: ['changed'],
          places: [[3, 4]],
          effort: '2.50',
        }),
      ({ tickets }, { ticketId, other }) => tickets.update({ id: ticketId, projectId: other }),
    ],
    'tickets.delete': ({ tickets }, { ticketId }) => tickets.delete({ id: ticketId }),
    'tickets.close': ({ tickets }, { ticketId }) => tickets.close({ id: ticketId }),
    'comments.list': ({ comments }, { ticketId }) => comments.list({ ticketId }),
    'comments.create': ({ comments }, { ticketId }) => comments.create({ ticketId, text: 'New' }),
    'comments.update': ({ comments }, { commentId }) => comments.update({ id: commentId, text: 'Changed' }),
    'comments.delete': ({ comments }, { commentId }) => comments.delete({ id: commentId }),
  },
  forbidden: {
    'projects.update': asViewer((bob, { id }) => bob.projects.update({ id })),
    'projects.delete': asViewer((bob, { id }) => bob.projects.delete({ id })),
    'projects.members': asViewer((bob, { id }) => bob.projects.members({ id })),
    'tickets.list': as('guest')((bob, { id }) => bob.tickets.list({ projectId: id })),
    'tickets.create': asViewer((bob, { id }) => bob.tickets.create({ projectId: id, title: 'New' })),
    'tickets.update': asViewer((bob, { ticketId }) => bob.tickets.update({ id: ticketId })),
    'tickets.delete': asViewer((bob, { ticketId }) => bob.tickets.delete({ id: ticketId })),
    'tickets.close': asViewer((bob, { ticketId }) => bob.tickets.close({ id: ticketId })),
    'comments.update': asViewer((bob, { commentId }) => bob.comments.update({ id: commentId, text: 'New' })),
    'comments.delete': asViewer((bob, { commentId }) => bob.comments.delete({ id: commentId })),
  },
  errors: {
    'projects.get NOT_FOUND': ({ bob, fixture: { id } }) => bob.projects.get({ id }),
    'projects.update NOT_FOUND': ({ bob, fixture: { id } }) => bob.projects.update({ id }),
    'projects.delete NOT_FOUND': ({ bob, fixture: { id } }) => bob.projects.delete({ id }),
    'projects.members NOT_FOUND': ({ bob, fixture: { id } }) => bob.projects.members({ id }),
    'projects.invite NOT_FOUND': ({ bob, fixture: { id } }) =>
      bob.projects.invite({ id, email: 'x@example.com', role: 'agent' }),
    'projects.exclude NOT_FOUND': ({ bob, fixture: { id } }) =>
      bob.projects.exclude({ id, email: 'x@example.com' }),
    'projects.leave NOT_FOUND': ({ bob, fixture: { id } }) => bob.projects.leave({ id }),
    'tickets.list NOT_FOUND': ({ bob, fixture: { id } }) => bob.tickets.list({ projectId: id }),
    'tickets.get NOT_FOUND': ({ bob, fixture: { ticketId } }) => bob.tickets.get({ id: ticketId }),
    'tickets.create NOT_FOUND': ({ bob, fixture: { id } }) =>
      bob.tickets.create({ projectId: id, title: 'New' }),
    'tickets.update NOT_FOUND': ({ bob, fixture: { ticketId } }) => bob.tickets.update({ id: ticketId }),
    'tickets.delete NOT_FOUND': ({ bob, fixture: { ticketId } }) => bob.tickets.delete({ id: ticketId }),
    'tickets.close NOT_FOUND': ({ bob, fixture: { ticketId } }) => bob.tickets.close({ id: ticketId }),
    'comments.list NOT_FOUND': ({ bob, fixture: { ticketId } }) => bob.comments.list({ ticketId }),
    'comments.create NOT_FOUND': ({ bob, fixture: { ticketId } }) =>
      bob.comments.create({ ticketId, text: 'New' }),
    'comments.update NOT_FOUND': ({ bob, fixture: { commentId } }) =>
      bob.comments.update({ id: commentId, text: 'New' }),
    'comments.delete NOT_FOUND': ({ bob, fixture: { commentId } }) => bob.comments.delete({ id: commentId }),
  },
  relations: { 'an agent of a project': share('agent'), 'a viewer of a project': share('viewer') },
}
