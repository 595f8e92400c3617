import { ORPCError } from '@orpc/client'
import { isObject } from '@orpc/shared'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'

import { parseCalls } from '../server/body.ts'
import type { Call } from '../server/protocol.ts'
import { readTarget, type Target } from '../server/target.ts'

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
export function readItems({ method, url, body, context }: Call, baseUrl: string): Item[] {
  const query = method === 'GET' ? url().searchParams.getAll('batch').at(-1) : undefined
  const { body: parsed, malformed = context.malformed } = query ? parseCalls(Buffer.from(query)) : { body }
  if (malformed) throw malformed
  const { data: items = [] } = SentItem.array().safeParse(parsed?.calls)
  if (items.length === 0 || items.some((item) => (item.method ?? method) !== method))
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

/** Ignores the origin, because a proxy may have changed the origin of the request. */
function readItemTarget(url: string, baseUrl: string) {
  const { pathname, search } = new URL(url)
  return readTarget({ url: pathname + search, headers: {}, httpVersion: '1.0' }, baseUrl)
}

/** The headers by which browsers name the page that sent a request. A call of a batch must not replace these headers. */
const OF_PAGE = ['origin', 'sec-fetch-site']

const toNodeHeaders = (headers: Record<string, string | string[]>): IncomingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), String(value)] as const)
      .filter(([name]) => !OF_PAGE.includes(name)),
  )
