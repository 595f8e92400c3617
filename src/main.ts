import { setFlagsFromString } from 'node:v8'

// Without this flag, V8 allocates objects of requests in the old generation if earlier objects from the same code were
// long-lived. Only major garbage collections, with pauses of up to 50 ms, free these objects.
setFlagsFromString('--no-allocation-site-pretenuring')

// Must run before the import of the service, because Node.js reads only the source maps of modules that load later. The
// command has no flag --enable-source-maps, because pino would then decode all source maps at the start (32 MiB).
process.setSourceMapsEnabled(true)

const { loadEnvironmentFiles, serve } = await import('tallystick/serve')
// Before the import of the service, whose modules can read the environment.
loadEnvironmentFiles()
const { app } = await import('./app.ts')
await serve(app, process.env)
