import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, expect, test } from 'vitest'

import { app } from '../../dev/create/samples/src/app.ts'
import { addSamples, importSamples } from '../../operator/seed.ts'
import { newEmail } from '../fixtures/bind-service.ts'

const tallystick = await createTallystick(app)
afterAll(() => tallystick.close())

test('the sample data that `add` writes has shared rows with children, and is added once', async () => {
  const email = newEmail()
  const samples = await importSamples(app)
  await addSamples(tallystick.services, email, samples)
  await addSamples(tallystick.services, email, samples)
  const ada = await tallystick.person(email)

  const { gardens } = await ada.gardens.list({})
  expect(gardens.map(({ title, mine }) => [title, mine]).sort()).toEqual([
    ['First garden', true],
    ['Garden of Charles', false],
    ['Second garden', true],
  ])
  for (const { id } of gardens) {
    const { plants } = await ada.plants.list({ gardenId: id })
    expect(plants.map(({ title }) => title)).toEqual(['First plant', 'Second plant'])
  }
})
