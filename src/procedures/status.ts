import { publicAccess } from '../guard/index.ts'

const os = publicAccess.status

export const status = os.router({
  get: os.get.handler(({ context: { settings } }) => ({
    status: 'ok',
    service: settings.service,
    release: settings.release,
  })),
})
