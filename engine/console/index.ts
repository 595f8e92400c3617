import type { App } from '../app/resource.ts'
import { createPageEndpoints } from './page-endpoints.ts'
import type { ServiceParts } from './people.ts'
import { receiveBuildErrors } from './build-errors.ts'
import { createRecorder } from './requests/recorder.ts'
import { serveConsole } from './server.ts'

// The console for developers. Only engine/start/serve.ts imports this file, and only on a machine for development.

const printAddress = (address: string) =>
  process.stdout.write(`  Console        ${address} (works once; then prints the next address)\n`)

/** Creates the console. The recorder observes the database, so the console exists before the services. */
export function createConsole(app: App, options: { isDevelopment: boolean }) {
  const recorder = createRecorder(app)
  receiveBuildErrors()
  let origin: string | undefined
  return {
    recorder,
    /** Creates the endpoints for the page of the application. */
    createEndpoints: (service: Pick<ServiceParts, 'app' | 'db' | 'notifications'>) =>
      createPageEndpoints(service, () => origin),
    /** Serves the console until the service stops. Prints the address of the console, and the next address after each use. */
    open: async (service: ServiceParts) => {
      const running = await serveConsole(service, recorder, () => printAddress(running.address()), options)
      const { address, close } = running
      origin = running.origin
      // The service may have stopped meanwhile.
      if (service.closing.signal.aborted) close()
      service.closing.signal.addEventListener('abort', close)
      printAddress(address())
    },
  }
}
