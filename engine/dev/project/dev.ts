import { rmSync } from 'node:fs'
import inspector from 'node:inspector'

import { context, stop as stopEsbuild } from 'esbuild'
import { onRunnerExit } from 'tallystick/internal/start/package-runner'
import { toErrorMessage } from 'tallystick/internal/db/errors'
import { loadEnvironmentFiles } from 'tallystick/internal/settings/environment-files'
import { findAddresses, requireFreePort, SERVICE_HOST } from './addresses.ts'
import { hasPage, requireProject } from './build.ts'
import { describeBuildError, type ShowBuildErrors } from './build-errors.ts'
import { bundleOptions } from './bundle.ts'
import { keepConsolePort } from './console-port.ts'
import { createMigrationReport } from './migration-report.ts'
import { requireServableFolder } from './page-folder.ts'
import { entryPoints, programsPlugin } from './programs.ts'
import { createService } from './supervised-service.ts'

/** Not `dist/start`, so that a build for `start` stays valid. */
const OUTPUT = 'dist/dev'

export interface DevelopmentOptions {
  /** `--inspect` without a value is true. */
  inspect?: string | true
}

/**
 * Runs the service, and starts the service again after each change of the sources, the migrations and `.env`. After a
 * change with a mistake, the previous service continues. If the service ends, it starts again after the next change. If the
 * project has a page, Vite answers at HOST and PORT with the sources of the page, and forwards all other requests to the
 * service, which listens on loopback.
 */
export async function runDevelopment({ inspect }: DevelopmentOptions) {
  requireProject()
  if (hasPage()) requireServableFolder(process.cwd())
  // The service reads the files itself, again at each start.
  const inherited = { ...process.env }
  loadEnvironmentFiles()
  const { DATA_DIR = '', TRUSTED_PROXIES = '' } = process.env
  const dataDir = DATA_DIR === '' ? '.data' : DATA_DIR
  const { host, port, servicePort, baseUrl } = await findAddresses(process.env, hasPage())
  const serviceAddress =
    servicePort === undefined ? { host, port } : { host: SERVICE_HOST, port: servicePort }
  rmSync(OUTPUT, { recursive: true, force: true })

  const service = createService({
    file: `${OUTPUT}/dev.js`,
    flags: takeInspectorFlags(inspect),
    env: {
      ...inherited,
      HOST: serviceAddress.host,
      PORT: String(serviceAddress.port),
      BASE_URL: baseUrl,
      DATA_DIR: dataDir,
      // Vite is a proxy on loopback.
      ...(hasPage() && { TRUSTED_PROXIES: ['loopback', TRUSTED_PROXIES].filter(Boolean).join() }),
    },
    onMessage: keepConsolePort(),
    onEnd: (reason) => {
      // If another program has taken the port, no change of the sources lets the service start again.
      requireFreePort(serviceAddress.host, serviceAddress.port).then(
        () =>
          report(
            `The service has ended: ${reason}. \`tallystick dev\` starts it again after the next change.`,
          ),
        (error: unknown) => {
          report(toErrorMessage(error))
          process.exit(1)
        },
      )
    },
  })
  // `../..` is the folder of the project, in which the code finds the files beside its sources.
  const options = bundleOptions(OUTPUT, '../..')
  let showInPage: ShowBuildErrors | undefined
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
            const buildErrors = errors.map(describeBuildError)
            showInPage?.(buildErrors)
            if (buildErrors.length > 0) {
              service.send({ buildErrors })
              return
            }
            await service.restart()
            void reportMigrations()
          })
        },
      },
    ],
  })
  // While it watches, the process of esbuild can survive the end of this process.
  process.once('exit', () => void stopEsbuild())
  // Before the service, so that the page answers when the service says that it listens.
  if (servicePort !== undefined) {
    const { servePage } = await import('./serve-page.ts')
    showInPage = await servePage({ host, port, servicePort, baseUrl, dataDir }).catch(
      async (error: unknown) => {
        await building.dispose()
        throw error
      },
    )
    process.stdout.write(`The page is at ${host}:${port}\n`)
  }
  // Vite would end the process before the service has stopped.
  process.removeAllListeners('SIGTERM')
  stopOnSignal(() => Promise.all([building.dispose(), service.stop()]))
  await building.watch()
}

const report = (message: string) => process.stderr.write(`${message}\n`)

/** Stops on the first signal, or when the package manager that started this process has ended. Exits on the second signal. */
function stopOnSignal(stop: () => Promise<unknown>) {
  let stopping = false
  const requestStop = () => {
    if (stopping) process.exit(1)
    stopping = true
    void stop().finally(() => process.exit())
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, requestStop)
  onRunnerExit(() => {
    if (!stopping) requestStop()
  })
}

/**
 * Returns the options of Node for a debugger of the service: of `--inspect`, otherwise of this process (`node --inspect`, NODE_OPTIONS).
 * Closes the inspector of this process, because the service uses the same port.
 */
function takeInspectorFlags(inspect: DevelopmentOptions['inspect']) {
  const isOpen = inspector.url() !== undefined
  if (isOpen) inspector.close()
  if (inspect !== undefined) return [inspect === true ? '--inspect' : `--inspect=${inspect}`]
  return isOpen ? process.execArgv.filter((flag) => flag.startsWith('--inspect')) : []
}
