import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'vite'

import { createServedFiles } from './served-files.ts'
import { importPaths, viteConfig } from './vite.ts'

/**
 * Serves the sources of the page at an origin, for development. Forwards all other requests to the service at a port of
 * this machine, also requests for files of DATA_DIR.
 */
export async function servePage(origin: URL, servicePort: number, dataDir: string) {
  const paths = await importPaths()
  const config = viteConfig(paths)
  const { root = '' } = config
  const { fs, isPrivate } = createServedFiles(dataDir)
  /** Returns the path of the file that Vite serves for a request. Undefined if the service answers the request. */
  const fileOf = (path: string) => {
    if (paths.includes(path)) return '/index.html'
    const name = decode(path)
    const files = [join(root, name), join(root, 'public', name), name.replace(/^\/@fs\/+/, '/')]
    const isSource = /^\/(@|node_modules\/)/.test(path) || files.slice(0, 2).some((file) => existsSync(file))
    return isSource && !files.some(isPrivate) ? path : undefined
  }
  const vite = await createServer({
    ...config,
    server: {
      host: origin.hostname,
      port: Number(origin.port),
      strictPort: true,
      fs,
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

/** Decodes a path as Vite does. Vite reads `\` as `/`. */
function decode(path: string) {
  try {
    return decodeURI(path).replaceAll('\\', '/')
  } catch {
    return path.replaceAll('\\', '/')
  }
}
