import { existsSync } from 'node:fs'

import { toErrorMessage } from '../db/errors.ts'

/**
 * Adds the variables of `.env.local` and `.env` in the working folder to the environment of this process. A variable that is
 * already set keeps its value, also an empty one. Tests (NODE_ENV=test) read only `.env.test`, so that no test uses the
 * mail server or the data of `.env`.
 */
export function loadEnvironmentFiles({ NODE_ENV } = process.env) {
  for (const file of NODE_ENV === 'test' ? ['.env.test'] : ['.env.local', '.env'])
    if (existsSync(file))
      try {
        process.loadEnvFile(file)
      } catch (cause) {
        throw new Error(`${file} cannot be read: ${toErrorMessage(cause)}`, { cause })
      }
}
