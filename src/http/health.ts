import type { IncomingMessage } from 'node:http'

import { unavailable } from '../../contract/errors.ts'
import type { Services } from '../context.ts'
import { hasBody } from './body.ts'
import { answer, refuse, refuseMethod, type Transport } from './protocol.ts'

const checks = { '/api/health/live': 'live', '/api/health/ready': 'ready' } as const

const checkOf = (path = ''): 'live' | 'ready' | undefined => new Map(Object.entries(checks)).get(path)

/** Health checks are answered beyond MAX_REQUESTS, and are not logged. */
export const isHealthCheck = ({ method = '', url, headers }: IncomingMessage) =>
  checkOf(url) !== undefined && (method === 'GET' || method === 'HEAD') && !hasBody(headers)

const OK = JSON.stringify({ status: 'ok' })

/** Tells operators whether the process is alive, and whether it should be sent requests. */
export function createHealth({ state, isReachable }: Services): Transport {
  // Concurrent checks share one statement: they are not limited by MAX_REQUESTS.
  let probe: Promise<boolean> | undefined
  const probeDatabase = () =>
    (probe ??= isReachable().finally(() => {
      probe = undefined
    }))

  return async ({ method, url, context }, response) => {
    const { pathname } = url()
    const check = checkOf(pathname)
    if (!check) return false
    context.attributes.operation = pathname
    if (method !== 'GET') return refuseMethod(response, ['GET'])
    if (check === 'live') return answer(response, 200, OK)
    if (state.stopping) return refuse(response, unavailable('The service is stopping'))
    if (!(await probeDatabase())) return refuse(response, unavailable('The database does not answer'))
    return answer(response, 200, OK)
  }
}
