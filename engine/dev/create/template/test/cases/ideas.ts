import { casesOf } from 'tallystick-dev/testing/laws'

import { app } from '../../src/app.ts'

// The compiler names a missing call or error. The laws name a field of an input that no call uses.
export const cases = casesOf(app, 'ideas', {
  // Ada gets data with `text`. Other people must not receive this text.
  prepare: async ({ ada }, text) => ({ idea: await ada.ideas.create({ title: text }) }),
  calls: {
    'ideas.list': [({ ideas }) => ideas.list(), ({ ideas }, { idea }) => ideas.list({ q: idea.title })],
    'ideas.get': ({ ideas }, { idea }) => ideas.get({ id: idea.id }),
    'ideas.create': ({ ideas }) => ideas.create({ title: 'Another' }),
    'ideas.update': ({ ideas }, { idea }) => ideas.update({ id: idea.id, title: 'Changed' }),
    'ideas.delete': ({ ideas }, { idea }) => ideas.delete({ id: idea.id }),
  },
  errors: {
    'ideas.get NOT_FOUND': ({ bob, fixture }) => bob.ideas.get({ id: fixture.idea.id }),
    'ideas.update NOT_FOUND': ({ bob, fixture }) => bob.ideas.update({ id: fixture.idea.id }),
    'ideas.delete NOT_FOUND': ({ bob, fixture }) => bob.ideas.delete({ id: fixture.idea.id }),
  },
})
