import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'

import { createClient, isDefinedError, safe } from '../contract/client.ts'
import { newEmail, startService } from './fixtures/service.ts'

const service = await startService()
const { origin } = service

test('the calls of README.md in process and over HTTP', async () => {
  const cookie = await service.signIn(newEmail())

  const ada = service.client({ cookie })
  const client = createClient(origin, { headers: { cookie } })
  const { id } = await ada.tasks.create({ taskTitle: 'Write' })
  const { error } = await safe(client.tasks.get({ id: id + 1 }))
  expect(isDefinedError(error) && error.code).toBe('NOT_FOUND')
})

const Document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

test('README.md names every operation', async () => {
  const { paths } = Document.parse(JSON.parse(await readFile('docs/openapi.json', 'utf8')))
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const rows = (await readFile('README.md', 'utf8')).match(/^\| `(?:GET|POST|DELETE) .*$/gm) ?? []
  const named = rows.join().match(/(?:GET|POST|PATCH|DELETE) \/api\/[^`]*/g)

  expect(named?.sort()).toEqual(operations.sort())
})
