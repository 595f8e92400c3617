import envPaths from 'env-paths'
import { waitForLock } from 'fs-native-extensions'
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/** What the command line keeps of a service that it is signed in to. `expiresAt` is in milliseconds. */
const Kept = z.object({
  clientId: z.string(),
  accessToken: z.string(),
  refreshToken: z.string(),
  expiresAt: z.number(),
})
export type Kept = z.infer<typeof Kept>

const Ring = z.record(z.string(), Kept)
type Ring = z.infer<typeof Ring>

const folder = () => process.env.TALLYSTICK_CONFIG ?? envPaths('tallystick', { suffix: '' }).config

/**
 * Changes what is kept, one process at a time: a refresh token is good once, and two that used it would end the grant.
 * Only its owner can read the file; it is replaced whole, or not at all.
 */
export async function change<Result>(work: (ring: Ring) => Promise<Result>): Promise<Result> {
  await mkdir(folder(), { recursive: true, mode: 0o700 })
  const lock = await open(join(folder(), 'lock'), 'a', 0o600)
  try {
    await waitForLock(lock.fd)
    const file = join(folder(), 'credentials.json')
    const before = await readFile(file, 'utf8').catch(() => '{}')
    const ring = Ring.catch({}).parse(JSON.parse(before))
    const result = await work(ring)
    const after = JSON.stringify(ring, undefined, 2)
    if (after !== before) {
      await writeFile(`${file}.new`, after, { mode: 0o600 })
      await rename(`${file}.new`, file)
    }
    return result
  } finally {
    await lock.close()
  }
}
