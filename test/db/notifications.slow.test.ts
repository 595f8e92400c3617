import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'

import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const { db } = service.services

test('the deletion of a note that 250 people share is announced to these people and to the author only', async () => {
  const cookie = await service.signIn(newEmail())
  const client = service.client({ cookie })
  const author = await client.account.get()
  const note = await client.notes.create({ title: 'x', body: 'y' })
  await db.execute(sql`
    insert into users (id, name, email)
    select 'reader' || n, 'Reader', 'reader' || n || '@example.com' from generate_series(1, 250) as n`)
  await db.execute(sql`
    insert into note_shares (note_id, email, role)
    select notes.id, 'reader' || n || '@example.com', 'reader' from notes, generate_series(1, 250) as n
    where uuid = ${note.id}`)
  const listener = postgres(service.databaseUrl, { max: 1 })
  onTestFinished(() => listener.end())
  const keys = new Set<string>()
  await listener.listen('tallystick', (payload) => {
    const [sender, ...announced] = payload.split(' ')
    if (sender === 'database') for (const key of announced) keys.add(key)
  })

  await client.notes.delete({ id: note.id })

  // The keys of the people come from the trigger. The deletion itself is announced by the process, for the author.
  const expected = Array.from({ length: 250 }, (_, index) => `notes:reader${index + 1}`)
  await expect
    .poll(() => [...keys].filter((key) => key !== `notes:${author.id}`).sort(), PATIENCE)
    .toEqual(expected.sort())
})
