import { implement } from '@orpc/server'
import { status as statusContract } from 'tallystick-contract/internal'

import type { Context } from '../call/context.ts'
import { withoutCaller } from '../guard/index.ts'
import type { Resource } from '../app/resource.ts'

const os = implement(statusContract).$context<Context>().use(withoutCaller)

const procedures = os.router({
  get: os.get.handler(({ context: { settings } }) => ({
    status: 'ok',
    service: settings.service,
    release: settings.release,
  })),
})

export const status = {
  description: 'Whether the service is running.',
  procedures,
} satisfies Resource
