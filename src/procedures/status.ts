import { withoutCaller } from '../guard/index.ts'
import type { Resource } from '../resource.ts'

const os = withoutCaller.status

const procedures = os.router({
  get: os.get.handler(({ context: { settings } }) => ({
    status: 'ok',
    service: settings.service,
    release: settings.release,
  })),
})

export const status = {
  procedures,
} satisfies Resource
