import { ORPCError } from '@orpc/client'
import { isObject } from '@orpc/shared'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'

import { parseJson } from '../server/body.ts'
import type { Call, Target } from '../server/protocol.ts'
import { normalizeTarget } from '../server/request.ts'

/** One call of a batch, as oRPC's BatchLinkPlugin sends it. */
const SentItem = z.object({
  method: z.string().optional(),
  url: z.url(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])).default({}),
  body: z.custom<Record<string, unknown>>(isObject).optional(),
})

/** One call of a batch, with normalized target and headers. */
export interface Item {
  target: Target
  headers: IncomingHttpHeaders
  body: Call['body']
}

/**
 * Reads the calls of a batch. All calls have the method of the request: a GET request, which pages of every origin can
 * send, must not contain a call by POST.
 */
export function readItems(call: Call, baseUrl: string): Item[] {
  const { data: items = [] } = SentItem.array().safeParse(readCalls(call))
  const hasOtherMethod = items.some(({ method }) => method !== undefined && method !== call.method)
  if (items.length === 0 || hasOtherMethod)
    throw new ORPCError('BAD_REQUEST', {
      message:
        'A batch must be a list of calls with `url`, `headers` and `body`, which use the method of the request',
    })
  return items.map(({ url, headers, body }) => ({
    target: readItemTarget(url, baseUrl),
    headers: toNodeHeaders(headers),
    body,
  }))
}

/** Returns the calls in the query of a GET request, or else in the body. Throws if the query or the body is malformed. */
function readCalls({ method, url, body, context }: Call): unknown {
  const query = method === 'GET' ? url().searchParams.getAll('batch').at(-1) : undefined
  const parsed = query ? parseJson(Buffer.from(query), 'list') : undefined
  const malformed = parsed?.malformed ?? context.malformed
  if (malformed) throw malformed
  return parsed ? parsed.body?.calls : body?.calls
}

/** Ignores the origin of the URL, because a proxy may have changed the origin of the request. */
function readItemTarget(url: string, baseUrl: string) {
  const { pathname, search } = new URL(url)
  return normalizeTarget(pathname + search, undefined, baseUrl)
}

/** The headers by which browsers name the page that sent a request. A call of a batch must not replace these headers. */
const OF_PAGE = ['origin', 'sec-fetch-site']

const toNodeHeaders = (headers: Record<string, string | string[]>): IncomingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), String(value)] as const)
      .filter(([name]) => !OF_PAGE.includes(name)),
  )
