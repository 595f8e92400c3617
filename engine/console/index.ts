import type { App } from '../app/resource.ts'
import type { ServiceParts } from './people.ts'
import { receiveBuildErrors } from './build-errors.ts'
import { createRecorder } from './recorder.ts'
import { serveConsole } from './server.ts'

// The console for developers. Only engine/start/serve.ts imports this file, and only on a machine for development.

const printAddress = (address: string) =>
  process.stdout.write(`  Console        ${address} (works once; then prints the next address)\n`)

/** Creates the console. `secret` signs its cookies. The recorder observes the database, so the console exists before the services. */
export function createConsole(app: App, secret: string) {
  const recorder = createRecorder(app)
  receiveBuildErrors()
  return {
    recorder,
    /** Serves the console until the service stops. Prints the address of the console, and the next address after each use. */
    open: async (service: ServiceParts) => {
      const { address, close } = await serveConsole(service, recorder, secret, () => printAddress(address()))
      service.closing.signal.addEventListener('abort', close)
      printAddress(address())
    },
  }
}
