import { laws } from 'tallystick-dev/testing/laws'

import { app } from '../src/app.ts'

// Tests the rules of every application for each procedure: access, declared errors, no data for other people, export and
// deletion of an account. The compiler names missing cases.
laws(app, {
  // Ada gets data with `text` in each resource. Other people must not receive this text.
  prepare: async ({ ada }, text) => ({
    idea: await ada.ideas.create({ title: text }),
  }),
  calls: {
    'ideas.list': ({ ideas }) => ideas.list(),
    'ideas.create': ({ ideas }) => ideas.create({ title: 'Another' }),
    'ideas.delete': ({ ideas }, { idea }) => ideas.delete({ id: idea.id }),
  },
  errors: {
    'ideas.delete NOT_FOUND': ({ bob, fixture }) => bob.ideas.delete({ id: fixture.idea.id }),
  },
})
