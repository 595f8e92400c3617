import envPaths from 'env-paths'
import { waitForLock } from 'fs-native-extensions'
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/**
 * The OAuth client id and the tokens for one service. `expiresAt` is the expiry time of the access token (Unix time in
 * milliseconds).
 */
const Credential = z.object({
  clientId: z.string(),
  accessToken: z.string(),
  refreshToken: z.string(),
  expiresAt: z.number(),
})
export type Credential = z.infer<typeof Credential>

/** A record with the origin of the service as key. */
const Credentials = z.record(z.string(), Credential)
type Credentials = z.infer<typeof Credentials>

const folder = () => process.env.TALLYSTICK_CONFIG ?? envPaths('tallystick', { suffix: '' }).config

/**
 * Reads the stored credentials, runs `update`, and stores the changes that `update` made to its argument. A file lock
 * ensures that only one process at a time runs this function: if two processes used the same refresh token, the service
 * would revoke the grant. Only the owner can read the file. The function writes a new file and renames it, so that an
 * interrupted write does not damage the stored credentials.
 */
export async function updateCredentials<Result>(
  update: (credentials: Credentials) => Promise<Result>,
): Promise<Result> {
  await mkdir(folder(), { recursive: true, mode: 0o700 })
  const lock = await open(join(folder(), 'lock'), 'a', 0o600)
  try {
    await waitForLock(lock.fd)
    const file = join(folder(), 'credentials.json')
    const before = await readFile(file, 'utf8').catch(() => '{}')
    // A file of another form counts as empty: the next sign-in writes a new one.
    const credentials = Credentials.catch({}).parse(JSON.parse(before))
    const result = await update(credentials)
    const after = JSON.stringify(credentials, undefined, 2)
    if (after !== before) {
      await writeFile(`${file}.new`, after, { mode: 0o600 })
      await rename(`${file}.new`, file)
    }
    return result
  } finally {
    await lock.close()
  }
}
