import { freePort } from '../../engine/dev/testing/postgres.ts'
import { createTemporaryFolder } from './service-process.ts'
import { UNLIMITED_RATES } from './trial.ts'

/**
 * Creates the settings of several instances with a common secret. The settings contain the port and the data folder, so
 * that each instance can restart with the same port and the same data.
 */
export function createInstanceSettings(count: number, settings: Record<string, string> = {}) {
  const create = async () => ({
    ...UNLIMITED_RATES,
    AUTH_SECRET: 'a secret of the trials, of no use elsewhere',
    PORT: String(await freePort()),
    DATA_DIR: await createTemporaryFolder(),
    ...settings,
  })
  return Promise.all(Array.from({ length: count }, create))
}
