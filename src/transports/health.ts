import { unavailable } from '../../contract/errors.ts'
import type { Parts } from '../access.ts'
import { answer, refuse, refuseMethod, type Transport } from './transport.ts'

const PREFIX = '/api/health/'

export const isHealth = (path = '') => path.startsWith(PREFIX)

const OK = JSON.stringify({ status: 'ok' })

/** For whoever runs the service: whether the process is alive, and whether it should be sent requests. */
export const createHealth =
  ({ state, isReachable }: Parts): Transport =>
  async ({ method, url, context }, response) => {
    const { pathname } = url()
    const check = pathname === `${PREFIX}live` ? 'live' : pathname === `${PREFIX}ready` ? 'ready' : undefined
    if (!check) return false
    context.seen.operation = pathname
    if (method !== 'GET') return refuseMethod(response, ['GET'])
    if (check === 'live') return answer(response, 200, OK)
    if (state.stopping) return refuse(response, unavailable('The service is stopping'))
    if (!(await isReachable())) return refuse(response, unavailable('The database does not answer'))
    return answer(response, 200, OK)
  }
