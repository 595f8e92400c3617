import { readFileSync } from 'node:fs'

import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, expect, test } from 'vitest'

import { app } from './example/app.ts'
import { remind } from './example/jobs.ts'

const service = await createTallystick(app)
afterAll(() => service.close())

test('reminds of a loan when it is due', async () => {
  const { enqueue } = service.context()
  await enqueue(
    remind,
    { loanId: 7, userId: 'ada' },
    { after: new Date('2030-05-01T09:00:00Z'), key: 'loan 7' },
  )

  const before = await service.runDueJobs({ until: new Date('2030-05-01T08:59:59Z') })
  const after = await service.runDueJobs({ until: new Date('2030-05-01T09:00:00Z') })

  expect(before).not.toContainEqual(expect.objectContaining({ name: 'remind' }))
  expect(after).toMatchObject([{ name: 'remind', outcome: 'completed' }])
})

test('closes each month', async () => {
  await service.runDueJobs({ until: new Date('2031-01-02T00:00:00Z') })

  const attempts = await service.runDueJobs({ until: new Date('2031-02-02T00:00:00Z') })

  expect(attempts).toMatchObject([{ name: 'closeMonth', outcome: 'completed' }])
})

test('docs/jobs.md shows these jobs', () => {
  const page = readFileSync('docs/jobs.md', 'utf8')

  expect(page).toContain(readFileSync('engine/test/jobs/example/jobs.ts', 'utf8'))
})
