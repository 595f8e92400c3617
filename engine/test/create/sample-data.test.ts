import { and, eq } from 'drizzle-orm'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, expect, test } from 'vitest'

import { app } from '../../dev/create/samples/src/app.ts'
import { audit } from '../../db/accounts/audit.ts'
import { users } from '../../db/accounts/users.ts'
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

test('the sample data has one audit entry for each account, also if two calls add it at once', async () => {
  const email = newEmail()
  const samples = await importSamples(app)

  await Promise.all([1, 2, 3].map(() => addSamples(tallystick.services, email, samples)))

  const rows = await tallystick.services.db
    .select({ detail: audit.detail })
    .from(audit)
    .innerJoin(users, eq(users.id, audit.subject))
    .where(and(eq(users.email, email), eq(audit.action, 'admin.create-user')))
  expect(rows).toEqual([{ detail: 'seed' }])
})
