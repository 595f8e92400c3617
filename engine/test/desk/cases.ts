import type { Cases } from 'tallystick-dev/testing/laws'

import type { Client, contract } from './contract.ts'

async function prepare({ ada }: { ada: Client }, text: string) {
  const [first, second] = [
    await ada.projects.create({ name: text }),
    await ada.projects.create({ name: text }),
  ]
  const ticket = await ada.tickets.create({ projectId: first.id, title: text, dueAt: '2030-01-01' })
  await ada.tickets.create({ projectId: second.id, title: text })
  return { projectId: first.id, to: second.id, id: ticket.id, q: text }
}

export const cases: Cases<typeof contract, Awaited<ReturnType<typeof prepare>>> = {
  prepare,
  calls: {
    'projects.list': ({ projects }) => projects.list(),
    'projects.create': ({ projects }) => projects.create({ name: 'New' }),
    'projects.directory': ({ projects }) => projects.directory(),
    'tickets.list': [
      ({ tickets }) => tickets.list(),
      ({ tickets }, { projectId }) => tickets.list({ projectId }),
      ({ tickets }, { q }) => tickets.list({ q }),
    ],
    'tickets.create': ({ tickets }, { projectId }) =>
      tickets.create({ projectId, title: 'New', dueAt: '2030-02-02' }),
    'tickets.update': ({ tickets }, { projectId, id }) =>
      tickets.update({ projectId, id, title: 'Changed', dueAt: '2030-03-03' }),
    'tickets.move': ({ tickets }, { projectId, id, to }) => tickets.move({ projectId, id, to }),
    'tickets.delete': ({ tickets }, { projectId, id }) => tickets.delete({ projectId, id }),
    'tickets.dates': ({ tickets }) => tickets.dates(),
    'tickets.oldest': ({ tickets }) => tickets.oldest(),
  },
  shared: { 'projects.directory': { names: 'The names of projects are public.' } },
  errors: {
    'tickets.create NOT_FOUND': ({ ada }) => ada.tickets.create({ projectId: 0, title: 'New' }),
    'tickets.update NOT_FOUND': ({ ada }) => ada.tickets.update({ projectId: 0, id: 0 }),
    'tickets.move NOT_FOUND': ({ ada }) => ada.tickets.move({ projectId: 0, id: 0, to: 0 }),
    'tickets.delete NOT_FOUND': ({ ada }) => ada.tickets.delete({ projectId: 0, id: 0 }),
  },
}
