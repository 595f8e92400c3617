import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { makeFolderPrivate, makePrivate } from '../db/connection/private.ts'

/** Minimum length of AUTH_SECRET, in characters. */
export const MIN_SECRET = 32

/**
 * Returns the secret for development. The secret is stored in a file, so that sessions stay valid after a restart.
 * Creates the file if it does not exist, and restricts its permissions.
 */
export function loadOrCreateSecret(folder: string) {
  const file = join(folder, 'auth-secret')
  makeFolderPrivate(folder)
  try {
    writeFileSync(file, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  makePrivate(file, 0o600)
  const secret = readFileSync(file, 'utf8')
  // After a full disk or a power failure, the file can be empty. With an empty secret, better-auth would use its
  // default secret, which is publicly known.
  if (secret.length < MIN_SECRET)
    throw new Error(
      `${file} has fewer than ${MIN_SECRET} characters. Delete the file, which ends all sessions, or set AUTH_SECRET.`,
    )
  return secret
}
