import { spawn } from 'node:child_process'

import { servePage } from '../engine/project/serve-page.ts'

// Starts the service, and Vite in front of the service. Vite answers at BASE_URL with the sources of the page, and forwards
// all other requests.

const { PORT = '3000', BASE_URL = `http://localhost:${PORT}`, ...environment } = process.env
const origin = new URL(BASE_URL)
const servicePort = Number(origin.port) + 1

const service = spawn('tsx', ['watch', '--clear-screen=false', 'src/main.ts'], {
  env: { TRUSTED_PROXIES: 'loopback', ...environment, BASE_URL, PORT: String(servicePort) },
  stdio: 'inherit',
})
service.on('exit', (code) => process.exit(code ?? 0))
process.on('SIGINT', () => service.kill('SIGINT'))
process.on('SIGTERM', () => service.kill('SIGTERM'))

await servePage(origin, servicePort)
