import { ORPCError } from '@orpc/client'
import fresh from 'fresh'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, posix, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

import { markDevelopment } from '../../html/development.ts'
import { type Coding, firstElements, preferredCoding } from '../server/accept.ts'
import type { BuiltInEndpoint, BuiltInEndpoints } from './endpoints.ts'
import { sendBody, sendError, setPageHeaders } from '../server/send.ts'

/** A file that does not change while the service runs. */
interface ServedFile {
  type: string
  cacheControl: string
  /** Returns the content, compressed if `coding` is given. Undefined if the file does not exist with this coding. */
  load: (coding?: Coding) => Promise<Buffer> | undefined
  setHeaders?: BuiltInEndpoint['setHeaders']
  /** 200 by default. */
  status?: number
}

/**
 * Creates the endpoint of a file. The entity tag is a hash of the content, so each content coding has its own strong
 * tag. The service loads the file on the first request for this file, and then caches the file.
 */
export function createFileEndpoint({
  type,
  cacheControl,
  load,
  setHeaders,
  status = 200,
}: ServedFile): BuiltInEndpoint {
  const cache = new Map<Coding | undefined, Promise<{ bytes: Buffer; etag: string }>>()
  const find = (coding?: Coding) => {
    const loading = cache.get(coding) ?? load(coding)?.then((bytes) => ({ bytes, etag: etagOf(bytes) }))
    if (loading) cache.set(coding, loading)
    loading?.catch(() => cache.delete(coding))
    return loading
  }

  return {
    methods: ['GET'],
    answer: async ({ request: { headers } }, response) => {
      const coding = preferredCoding(headers['accept-encoding'] ?? '')
      const compressed = coding && (await find(coding))
      const file = compressed ?? (await find())
      if (!file) return false
      setHeaders?.(response)
      response.setHeader('vary', 'Accept-Encoding, Origin')
      response.setHeader('cache-control', cacheControl)
      response.setHeader('etag', file.etag)
      if (compressed) response.setHeader('content-encoding', coding)
      const condition = headers['if-none-match']
      const isFresh =
        condition !== undefined && fresh({ 'if-none-match': firstElements(condition) }, { etag: file.etag })
      if (!isFresh || status !== 200) return sendBody(response, status, file.bytes, type)
      response.writeHead(304).end()
      return true
    },
  }
}

const etagOf = (bytes: Buffer) => `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`

/**
 * The folders of built pages: beside the bundle of the engine, in the repository of the engine (.config/pages.ts), and in the
 * working folder, where a project has its own page.
 */
const FOLDERS = [
  ...['../pages', '../../../dist/pages'].map((path) => fileURLToPath(new URL(path, import.meta.url))),
  resolve('dist/pages'),
]

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}
const EXTENSIONS = { br: '.br', gzip: '.gz' }

/**
 * The Content-Security-Policy of a page. Allows scripts, styles, fonts and images only from this service, and images in `data:`
 * URLs.
 */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface PageOptions {
  /** Whether the HTML says that the service is in development. */
  isDevelopment?: boolean
}

/**
 * Creates the endpoints of a built page: `index.html` at `path`, and each other file at its own path below, without the
 * extension `.html`. Only files that exist at the start have an endpoint, so a request cannot reach other files. The
 * names of the files in `assets/` contain a content hash: caches may store these files forever. Documents are revalidated, and all
 * other files after an hour: browsers request the icon several times for one page. A page that is not built has no endpoints.
 */
export function createPageEndpoints(name: string, path: string, options: PageOptions = {}): BuiltInEndpoints {
  const files = listFiles(name)
  return Object.fromEntries(
    [...files].flatMap((file) => {
      const endpoint = createPageFile(name, file, files, options)
      if (!endpoint) return []
      return [[file === 'index.html' ? path : posix.join(path, file.replace(/\.html$/, '')), endpoint]]
    }),
  )
}

/**
 * Creates the endpoint that answers requests for unknown paths with a built page, which says that nothing is there. Returns
 * undefined if the page is not built.
 */
export function createNotFoundPage(name: string, options: PageOptions) {
  const files = listFiles(name)
  return files.size > 0 ? createPageFile(name, 'index.html', files, { ...options, status: 404 }) : undefined
}

/** Returns an empty text if the page is not built. */
const folderOf = (name: string) =>
  FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? ''

/** Lists the files of a built page. The list is empty if the page is not built. */
function listFiles(name: string): ReadonlySet<string> {
  const folder = folderOf(name)
  if (folder === '') return new Set()
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Set(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/')),
  )
}

/** Returns the function that finds a file of a built page, for the console for developers (engine/console/). */
export function createPageReader(name: string) {
  const files = listFiles(name)
  return (file: string) => {
    const type = files.has(file) ? TYPES[extname(file)] : undefined
    return type === undefined ? undefined : { type, load: () => readFile(join(folderOf(name), file)) }
  }
}

const loadMarked = async (file: string) => Buffer.from(markDevelopment(await readFile(file, 'utf8')))

/** Returns undefined for a file of an unknown type. */
function createPageFile(
  name: string,
  file: string,
  files: ReadonlySet<string>,
  { isDevelopment = false, status = 200 }: PageOptions & { status?: number },
) {
  const type = TYPES[extname(file)]
  if (type === undefined) return undefined
  return createFileEndpoint({
    type,
    cacheControl: file.startsWith('assets/')
      ? 'public, max-age=31536000, immutable'
      : type === TYPES['.html']
        ? 'no-cache'
        : 'public, max-age=3600',
    load: (coding) => {
      const folder = folderOf(name)
      // The compressed copies have no mark.
      if (isDevelopment && type === TYPES['.html']) return coding ? undefined : loadMarked(join(folder, file))
      const copy = coding ? file + EXTENSIONS[coding] : file
      return files.has(copy) ? readFile(join(folder, copy)) : undefined
    },
    setHeaders: (response) => {
      setPageHeaders(response)
      response.setHeader('content-security-policy', POLICY)
    },
    status,
  })
}

/** Answers requests for a page that is not built. */
export const notBuilt: BuiltInEndpoint = {
  methods: ['GET'],
  answer: (_, response) =>
    sendError(
      response,
      new ORPCError('NOT_FOUND', { message: 'This page is not built: run `npm run build`' }),
    ),
}
