import { casesOf } from 'tallystick-dev/testing/laws'

import { app } from '../../src/app.ts'

// The compiler names missing cases.
export const cases = casesOf(app, 'ideas', {
  // Ada gets data with `text`. Other people must not receive this text.
  prepare: async ({ ada }, text) => ({ idea: await ada.ideas.create({ title: text }) }),
  calls: {
    'ideas.list': ({ ideas }) => ideas.list(),
    'ideas.create': ({ ideas }) => ideas.create({ title: 'Another' }),
    'ideas.delete': ({ ideas }, { idea }) => ideas.delete({ id: idea.id }),
  },
  errors: {
    'ideas.delete NOT_FOUND': ({ bob, fixture }) => bob.ideas.delete({ id: fixture.idea.id }),
  },
})
