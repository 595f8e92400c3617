import { freePort } from '../postgres.ts'
import { makeFolder } from './service-process.ts'
import { UNLIMITED } from './trial.ts'

/** The settings of some instances, by which each can be started again as the same: its port, its folder, the secret of all. */
export function describeInstances(count: number, settings: Record<string, string> = {}) {
  const describe = async () => ({
    ...UNLIMITED,
    AUTH_SECRET: 'a secret of the trials, of no use elsewhere',
    PORT: String(await freePort()),
    DATA_DIR: await makeFolder(),
    ...settings,
  })
  return Promise.all(Array.from({ length: count }, describe))
}
