import type { ClientOf } from 'tallystick-contract'
import { casesOf, type People } from 'tallystick-dev/testing/laws'

import { app } from '../../src/app.ts'
// #shared
import { cases as casesOfGardens, share } from './gardens.ts'
// #end
// #owned import { cases as casesOfGardens } from './gardens.ts'

type Client = ClientOf<typeof app.contract>

/** Ada gets data with `text`. Other people must not receive this text. */
async function prepare(people: People<Client>, text: string) {
  const fixture = await casesOfGardens.prepare(people, text)
  await people.ada.plants.create({ gardenId: fixture.garden.id, title: text })
  const plant = await people.ada.plants.create({ gardenId: fixture.garden.id, title: text })
  return { ...fixture, plant }
}

// #shared
// For the cases of resources within plants.
export { share }

type Fixture = Awaited<ReturnType<typeof prepare>>

/** Bob calls as a member without the permission to change plants. */
const asViewer =
  (call: (bob: Client, fixture: Fixture) => Promise<unknown>) =>
  async (scene: People<Client> & { fixture: Fixture }) => {
    await share('viewer').begin(scene)
    return call(scene.bob, scene.fixture)
  }

// #end
// The compiler names a missing call or error. The laws name a field of an input that no call uses.
export const cases = casesOf(app, 'plants', {
  prepare,
  calls: {
    'plants.list': [
      ({ plants }, { garden }) => plants.list({ gardenId: garden.id }),
      ({ plants }, { garden, plant }) => plants.list({ gardenId: garden.id, q: plant.title }),
    ],
    'plants.get': ({ plants }, { plant }) => plants.get({ id: plant.id }),
    'plants.create': ({ plants }, { garden }) => plants.create({ gardenId: garden.id, title: 'Another' }),
    'plants.update': ({ plants }, { plant }) => plants.update({ id: plant.id, title: 'Changed' }),
    'plants.delete': ({ plants }, { plant }) => plants.delete({ id: plant.id }),
  },
  // #shared
  forbidden: {
    'plants.create': asViewer((bob, { garden }) =>
      bob.plants.create({ gardenId: garden.id, title: 'Another' }),
    ),
    'plants.update': asViewer((bob, { plant: { id } }) => bob.plants.update({ id })),
    'plants.delete': asViewer((bob, { plant: { id } }) => bob.plants.delete({ id })),
  },
  // #end
  errors: {
    'plants.list NOT_FOUND': ({ bob, fixture: { garden } }) => bob.plants.list({ gardenId: garden.id }),
    'plants.get NOT_FOUND': ({ bob, fixture: { plant } }) => bob.plants.get({ id: plant.id }),
    'plants.create NOT_FOUND': ({ bob, fixture: { garden } }) =>
      bob.plants.create({ gardenId: garden.id, title: 'Another' }),
    'plants.update NOT_FOUND': ({ bob, fixture: { plant } }) => bob.plants.update({ id: plant.id }),
    'plants.delete NOT_FOUND': ({ bob, fixture: { plant } }) => bob.plants.delete({ id: plant.id }),
  },
})
