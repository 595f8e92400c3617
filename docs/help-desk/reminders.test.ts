import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, expect, test } from 'vitest'

import { app } from '../src/app.ts'

const service = await createTallystick(app)
afterAll(() => service.close())

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
const lastLetter = () => service.letters.at(-1)

test('an invitation is an e-mail to the address', async () => {
  const ada = await service.person()
  const { id } = await ada.projects.create({ title: 'Bridge' })

  await ada.projects.invite({ id, email: 'bob@example.com', role: 'editor' })
  await service.runDueJobs()

  expect(lastLetter()).toMatchObject({ to: 'bob@example.com', subject: 'You are invited to Bridge' })
})

test('nobody is invited by a person who may not share the project', async () => {
  const [ada, eve] = [await service.person(), await service.person()]
  const { id } = await ada.projects.create({ title: 'Bridge' })
  const before = service.letters.length

  await expect(eve.projects.invite({ id, email: 'eve@example.com', role: 'editor' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
  await service.runDueJobs()

  expect(service.letters).toHaveLength(before)
})

test('the owner is reminded of a ticket that waits for three days', async () => {
  const ada = await service.person('ada@example.com')
  const { id: projectId } = await ada.projects.create({ title: 'Bridge' })
  const { id } = await ada.tickets.create({ projectId, title: 'The lamp' })
  await ada.tickets.move({ id, status: 'open' })
  await ada.tickets.move({ id, status: 'waiting' })

  const early = await service.runDueJobs({ until: inDays(2.9) })
  expect(early.filter(({ name }) => name === 'remind')).toEqual([])
  await service.runDueJobs({ until: inDays(3.1) })

  expect(lastLetter()).toMatchObject({ to: 'ada@example.com', subject: 'Still waiting: The lamp' })
})
