import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, expect, test } from 'vitest'

import { app } from '../src/app.ts'

const service = await createTallystick(app)

afterAll(() => service.close())

test('a person signs in by an e-mailed code', async () => {
  const ada = await service.person('ada@example.com')

  expect(await ada.account.get()).toMatchObject({ email: 'ada@example.com' })
  expect(service.letters).toMatchObject([{ to: 'ada@example.com' }])
})

test('the session cookie has a name of its own', async () => {
  expect(await service.signIn('bob@example.com')).toMatch(new RegExp(`^${app.id}\\.session_token=`))
})

test('a caller without a session is refused', async () => {
  await expect(service.stranger.account.get()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
})
