import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createServer, type Plugin, type ProxyOptions } from 'vite'

import { matchesPath } from '../../app/paths.ts'
import { markDevelopment } from '../../html/development.ts'
import { requireFreePort, SERVICE_HOST } from './addresses.ts'
import { createErrorOverlay } from './build-errors.ts'
import { createServedFiles } from './served-files.ts'
import { readPagePaths, viteConfig } from './vite.ts'

interface PageOptions {
  host: string
  port: number
  servicePort: number
  baseUrl: string
  dataDir: string
}

/**
 * Serves the sources of the page, for development. Forwards all other requests to the service at a port of this machine,
 * also requests for files of DATA_DIR. Returns the function that shows build errors of the service in the page.
 */
export async function servePage({ host, port, servicePort, baseUrl, dataDir }: PageOptions) {
  const isPath = createPathCheck()
  const config = viteConfig([])
  const { root = '' } = config
  const { fs, isPrivate } = createServedFiles(dataDir)
  /** Returns the path of the file that Vite serves for a request. Undefined if the service answers the request. */
  const fileOf = (path: string) => {
    if (isPath(path)) return '/index.html'
    const name = decode(path)
    const files = [join(root, name), join(root, 'public', name), name.replace(/^\/@fs\/+/, '/')]
    const isSource = /^\/(@|node_modules\/)/.test(path) || files.slice(0, 2).some((file) => existsSync(file))
    return isSource && !files.some(isPrivate) ? path : undefined
  }
  const vite = await createServer({
    ...config,
    plugins: [config.plugins, developmentPlugin],
    server: {
      host,
      port,
      strictPort: true, // BASE_URL names this port
      allowedHosts: [new URL(baseUrl).hostname],
      // The service answers preflights: TRUSTED_ORIGINS decides.
      cors: false,
      fs,
      proxy: {
        '/': {
          target: `http://${SERVICE_HOST}:${servicePort}`,
          xfwd: true, // tells the service the IP address of the client (TRUSTED_PROXIES in ./dev.ts)
          configure: reportEndOfService,
          bypass: ({ url = '/' }) => {
            const { pathname, search } = new URL(url, baseUrl)
            const file = fileOf(pathname)
            return file && file + search
          },
        },
      },
    },
  })
  try {
    await vite.listen()
  } catch (error) {
    await vite.close()
    // If another program has taken the port since the first check, throws the error that says so.
    await requireFreePort(host, port)
    throw error
  }
  return createErrorOverlay(vite)
}

/** Whether the service has the console, and so the endpoints for the page in development (`mayHaveConsole`). */
const hasConsole = ({ CONSOLE, NODE_ENV, WORKERS = '1' }: NodeJS.ProcessEnv) =>
  CONSOLE !== 'off' && NODE_ENV !== 'production' && WORKERS === '1'

/** Marks the page as the service does. */
const developmentPlugin: Plugin = {
  name: 'mark-development',
  transformIndexHtml: (html) => (hasConsole(process.env) ? markDevelopment(html) : html),
}

/** Minimum time between two readings of the paths, in milliseconds. */
const PATHS_AGE = 500

/** Returns the function that checks whether the page has a path. A new view needs no restart. */
function createPathCheck() {
  let paths = readPagePaths()
  let readAt = Date.now()
  return (path: string) => {
    if (Date.now() - readAt > PATHS_AGE) {
      readAt = Date.now()
      try {
        paths = readPagePaths()
      } catch {
        // The file is being edited. The build, and the next start, say what is wrong.
      }
    }
    return paths.some((each) => each === path || matchesPath(path, each))
  }
}

const NOT_RUNNING = JSON.stringify({
  defined: false,
  code: 'SERVICE_UNAVAILABLE',
  status: 503,
  message: 'The service does not run. The terminal of `tallystick dev` has the reason',
})

/** Answers 503 while the service does not run, and ends the answers, such as event streams, that its end has cut off. */
const reportEndOfService: ProxyOptions['configure'] = (proxy) => {
  proxy.on('proxyRes', (answer, _, response) => {
    answer.once('close', () => {
      if (!answer.complete) response.destroy()
    })
  })
  const refuse: Parameters<typeof proxy.on<'error'>>[1] = (_, __, response) => {
    if (!('writeHead' in response) || response.headersSent) response.destroy()
    else response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' }).end(NOT_RUNNING)
  }
  // Replaces the listener of Vite, which logs each request, and hides the error of the service.
  queueMicrotask(() => proxy.removeAllListeners('error').on('error', refuse))
}

/** Decodes a path as Vite does. Vite reads `\` as `/`. */
function decode(path: string) {
  try {
    return decodeURI(path).replaceAll('\\', '/')
  } catch {
    return path.replaceAll('\\', '/')
  }
}
