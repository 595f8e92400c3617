import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

const disk = vi.hoisted(() => ({ bavail: 1e6, bsize: 4096 }))

vi.mock('node:fs/promises', async (original) => ({
  ...(await original<typeof import('node:fs/promises')>()),
  statfs: () => Promise.resolve(disk),
}))

const { start } = await import('../../db/connection/embedded.ts')

test('the embedded database refuses writes while its disk is almost full', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-disk-'))
  const { client, close } = await start(join(folder, 'db'))
  const write = () =>
    client.query('insert into example values (1)').then(
      () => 'written',
      (error: unknown) => (error as { code: string }).code,
    )
  await client.exec('create table example (id int)')

  disk.bavail = 1000
  await expect.poll(write).toBe('25006')
  expect((await client.query('select from example')).rows.length).toBeGreaterThanOrEqual(0)
  disk.bavail = 1e6
  await expect.poll(write).toBe('written')

  await close()
  await rm(folder, { recursive: true })
})
