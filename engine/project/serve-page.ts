import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'vite'

import { importPaths, viteConfig } from './vite.ts'

/**
 * Serves the sources of the page at an origin, for development. Forwards all other requests to the service at a port of
 * this machine.
 */
export async function servePage(origin: URL, servicePort: number) {
  const paths = await importPaths()
  const config = viteConfig(paths)
  const { root = '' } = config
  /** Returns the path of the file that Vite serves for a request. Undefined if the service answers the request. */
  const fileOf = (path: string) => {
    if (paths.includes(path)) return '/index.html'
    const isSource =
      /^\/(@|node_modules\/)/.test(path) ||
      existsSync(join(root, path)) ||
      existsSync(join(root, 'public', path))
    return isSource ? path : undefined
  }
  const vite = await createServer({
    ...config,
    server: {
      host: origin.hostname,
      port: Number(origin.port),
      strictPort: true,
      proxy: {
        '/': {
          target: `http://127.0.0.1:${servicePort}`,
          xfwd: true,
          bypass: ({ url = '/' }) => {
            const { pathname, search } = new URL(url, origin)
            const file = fileOf(pathname)
            return file && file + search
          },
        },
      },
    },
  })
  await vite.listen()
}
