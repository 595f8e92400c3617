import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'

import { context } from 'esbuild'
import { toErrorMessage } from 'tallystick/internal/db/errors'
import { listen } from 'tallystick/internal/listen'
import { hasPage, requireProject } from './build.ts'
import { bundleOptions } from './bundle.ts'
import { createMigrationReport } from './migration-report.ts'
import { requireServableFolder } from './page-folder.ts'
import { entryPoints, programsPlugin } from './programs.ts'

/** Not `dist/start`, so that a build for `start` stays valid. */
const OUTPUT = 'dist/dev'

/**
 * Runs the service, and starts the service again after each change of the sources and each new migration. After a change
 * with a mistake, the previous service continues. If the project has a page, Vite answers at BASE_URL with the sources of
 * the page, and forwards all other requests to the service.
 */
export async function runDevelopment() {
  requireProject()
  if (hasPage()) requireServableFolder(process.cwd())
  const { HOST = '127.0.0.1', PORT = '3000', BASE_URL = `http://localhost:${PORT}`, DATA_DIR } = process.env
  const dataDir = DATA_DIR === undefined || DATA_DIR === '' ? '.data' : DATA_DIR
  const origin = new URL(BASE_URL)
  const servicePort = Number(origin.port) + 1
  if (hasPage()) {
    await requireFreePort(origin.hostname, Number(origin.port))
    // The page would forward requests to the other program.
    await requireFreePort('127.0.0.1', servicePort).catch((cause: unknown) => {
      throw new Error(`The service behind the page uses the port after PORT. ${toErrorMessage(cause)}`, {
        cause,
      })
    })
  } else await requireFreePort(HOST, Number(PORT))
  rmSync(OUTPUT, { recursive: true, force: true })
  const service = createService({
    ...(hasPage() && { TRUSTED_PROXIES: 'loopback' }),
    ...process.env,
    ...(hasPage() && { BASE_URL, PORT: String(servicePort) }),
    // Of this process, so that the console stays open when the service starts again.
    CONSOLE_SECRET: randomBytes(32).toString('hex'),
  })
  // The code finds the files beside its sources in the folder of the project.
  const options = bundleOptions(OUTPUT, '../..')
  const reportMigrations = createMigrationReport((line) => process.stderr.write(`${line}\n`))
  const building = await context({
    ...options,
    entryPoints: entryPoints('dev'),
    plugins: [
      programsPlugin,
      ...options.plugins,
      {
        name: 'restart',
        setup({ onEnd }) {
          onEnd(async ({ errors }) => {
            if (errors.length > 0) return
            await service.restart()
            void reportMigrations()
          })
        },
      },
    ],
  })
  // Before the service, so that the page answers when the service says that it listens.
  if (hasPage()) await (await import('./serve-page.ts')).servePage(origin, servicePort, dataDir)
  // Vite would end the process before the service has stopped.
  process.removeAllListeners('SIGTERM')
  const stop = () => {
    void Promise.all([building.dispose(), service.stop()]).then(() => process.exit())
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  await building.watch()
}

/** Throws if another program uses a port. */
async function requireFreePort(host: string, port: number) {
  const server = await listen(createServer(), { host, port }, 'PORT')
  await once(server.close(), 'close')
}

function createService(env: NodeJS.ProcessEnv) {
  let child: ChildProcess | undefined
  /** Waits for the end of the process, because only one process can use the embedded database. */
  const stop = async () => {
    if (child?.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
  }
  return {
    stop,
    restart: async () => {
      await stop()
      // The bundle is one file, so that its source map must be enabled before the file is loaded.
      const words = ['--enable-source-maps', `${OUTPUT}/dev.js`]
      child = spawn(process.execPath, words, { env, stdio: 'inherit' })
    },
  }
}
