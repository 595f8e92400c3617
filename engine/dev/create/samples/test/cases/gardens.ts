import type { ClientOf } from 'tallystick-contract'
import { casesOf, type People } from 'tallystick-dev/testing/laws'

import { app } from '../../src/app.ts'

type Client = ClientOf<typeof app.contract>
type Scene = People<Client> & { fixture: { garden: { id: number } } }

/** Bob becomes a member of the garden of Ada. */
export const share = (role: 'editor' | 'viewer') => ({
  begin: async ({ ada, bob, fixture: { garden } }: Scene) =>
    ada.gardens.invite({ id: garden.id, email: (await bob.account.get()).email, role }),
  end: async ({ ada, bob, fixture: { garden } }: Scene) =>
    ada.gardens.exclude({ id: garden.id, email: (await bob.account.get()).email }),
})

/** Bob calls as a member without the permission to change the garden. */
const asViewer = (call: (bob: Client, id: number) => Promise<unknown>) => async (scene: Scene) => {
  await share('viewer').begin(scene)
  return call(scene.bob, scene.fixture.garden.id)
}

const email = 'member@example.com'

/** Ada gets data with `text`. Other people must not receive this text. */
async function prepare({ ada, administrator }: People<Client>, text: string) {
  const garden = await ada.gardens.create({ title: text })
  await ada.gardens.invite({ id: garden.id, email, role: 'viewer' })
  await ada.gardens.invite({ id: garden.id, email: 'another@example.com', role: 'editor' })
  const foreign = await administrator.gardens.create({ title: 'Of an administrator' })
  const address = (await ada.account.get()).email
  await administrator.gardens.invite({ id: foreign.id, email: address, role: 'viewer' })
  return { garden, foreign }
}

// The compiler names a missing call or error. The laws name a field of an input that no call uses.
export const cases = casesOf(app, 'gardens', {
  prepare,
  calls: {
    'gardens.list': [
      ({ gardens }) => gardens.list(),
      ({ gardens }, { garden }) => gardens.list({ q: garden.title }),
    ],
    'gardens.get': ({ gardens }, { garden }) => gardens.get({ id: garden.id }),
    'gardens.create': ({ gardens }) => gardens.create({ title: 'Another' }),
    'gardens.update': ({ gardens }, { garden }) => gardens.update({ id: garden.id, title: 'Changed' }),
    'gardens.delete': ({ gardens }, { garden }) => gardens.delete({ id: garden.id }),
    'gardens.members': ({ gardens }, { garden }) => gardens.members({ id: garden.id }),
    'gardens.invite': ({ gardens }, { garden }) => gardens.invite({ id: garden.id, email, role: 'editor' }),
    'gardens.exclude': ({ gardens }, { garden }) => gardens.exclude({ id: garden.id, email }),
    'gardens.leave': ({ gardens }, { foreign }) => gardens.leave({ id: foreign.id }),
  },
  forbidden: {
    'gardens.update': asViewer((bob, id) => bob.gardens.update({ id })),
    'gardens.delete': asViewer((bob, id) => bob.gardens.delete({ id })),
    'gardens.members': asViewer((bob, id) => bob.gardens.members({ id })),
  },
  errors: {
    'gardens.get NOT_FOUND': ({ bob, fixture: { garden } }) => bob.gardens.get({ id: garden.id }),
    'gardens.update NOT_FOUND': ({ bob, fixture: { garden } }) => bob.gardens.update({ id: garden.id }),
    'gardens.delete NOT_FOUND': ({ bob, fixture: { garden } }) => bob.gardens.delete({ id: garden.id }),
    'gardens.members NOT_FOUND': ({ bob, fixture: { garden } }) => bob.gardens.members({ id: garden.id }),
    'gardens.invite NOT_FOUND': ({ bob, fixture: { garden } }) =>
      bob.gardens.invite({ id: garden.id, email, role: 'viewer' }),
    'gardens.exclude NOT_FOUND': ({ bob, fixture: { garden } }) =>
      bob.gardens.exclude({ id: garden.id, email }),
    'gardens.leave NOT_FOUND': ({ bob, fixture: { garden } }) => bob.gardens.leave({ id: garden.id }),
  },
  relations: { 'an editor of a garden': share('editor'), 'a viewer of a garden': share('viewer') },
})
