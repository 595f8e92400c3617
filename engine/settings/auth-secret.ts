import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { makeFolderPrivate, makePrivate } from '../db/connection/private.ts'
import { codeOf } from '../db/errors.ts'

/** Minimum length of AUTH_SECRET, in characters. */
export const MIN_SECRET = 32

/**
 * Returns the secret for development. The secret is stored in a file, so that sessions stay valid after a restart.
 * Creates the file if it does not exist, and restricts its permissions.
 */
export function loadOrCreateSecret(folder: string) {
  const file = join(folder, 'auth-secret')
  makeFolderPrivate(folder)
  if (!existsSync(file)) createSecret(file)
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

/** Another process can create the file at the same time, and never reads a part of it: the name appears with the content. */
function createSecret(file: string) {
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 })
  try {
    linkSync(draft, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
}
