import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'vite'

import { paths } from '../app/paths.ts'

// Starts the service, and Vite in front of the service. Vite answers at BASE_URL with the sources of the page, and forwards
// all other requests.

const { PORT = '3000', BASE_URL = `http://localhost:${PORT}`, ...environment } = process.env
const port = Number(new URL(BASE_URL).port)
const servicePort = port + 1

const service = spawn('tsx', ['watch', '--clear-screen=false', 'src/main.ts'], {
  env: { TRUSTED_PROXIES: 'loopback', ...environment, BASE_URL, PORT: String(servicePort) },
  stdio: 'inherit',
})
service.on('exit', (code) => process.exit(code ?? 0))
process.on('SIGINT', () => service.kill('SIGINT'))
process.on('SIGTERM', () => service.kill('SIGTERM'))

const app = join(import.meta.dirname, '../app')

/** Returns the path of the file that Vite serves for a request. Undefined if the service answers the request. */
function fileOf(path: string) {
  if (paths.some((known) => known === path)) return '/index.html'
  const isSource =
    /^\/(@|node_modules\/)/.test(path) || existsSync(join(app, path)) || existsSync(join(app, 'public', path))
  return isSource ? path : undefined
}

const vite = await createServer({
  configFile: '.config/vite.ts',
  server: {
    host: new URL(BASE_URL).hostname,
    port,
    strictPort: true,
    proxy: {
      '/': {
        target: `http://127.0.0.1:${servicePort}`,
        xfwd: true,
        bypass: ({ url = '/' }) => {
          const { pathname, search } = new URL(url, BASE_URL)
          const file = fileOf(pathname)
          return file && file + search
        },
      },
    },
  },
})
await vite.listen()
