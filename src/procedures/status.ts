import { withoutCaller } from '../guard/index.ts'

const os = withoutCaller.status

export const status = os.router({
  get: os.get.handler(({ context: { settings } }) => ({
    status: 'ok',
    service: settings.service,
    release: settings.release,
  })),
})
