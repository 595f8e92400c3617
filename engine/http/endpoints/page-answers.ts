import { ORPCError } from '@orpc/client'
import type { ServerResponse } from 'node:http'

import type { App } from '../../app/resource.ts'
import { offeredProviders } from '../../app/sign-in.ts'
import type { ConsumeRateLimit, LimitRefusal } from '../../call/context.ts'
import type { Settings } from '../../settings/settings.ts'
import { FetchRefused } from '../../identity/client-documents.ts'
import { toPublicDatabaseError } from '../../guard/outages.ts'
import { errorPage, type Problem } from '../../html/account.ts'
import { contentSecurityPolicy } from '../../html/page.ts'
import { createPageTranslator, type PageTranslator } from '../../html/page-translator.ts'
import type { Call } from '../server/protocol.ts'
import { sendBody } from '../server/send.ts'

export interface PageParts {
  app: App
  settings: Settings
  consumeRateLimit: ConsumeRateLimit
}

/** The result of a page: a redirect, or another page. */
export type Outcome =
  | { location: string; cookies?: string[] }
  /**
   * `exceeded` is the exceeded rate limit, if any. `refresh` is the address of a provider, which the browser opens next. Not a redirect:
   * browsers apply `form-action` of the Content-Security-Policy to the redirect after a form, too, and the server of a provider can
   * change after the page with the form was sent.
   */
  | { html: string; exceeded?: LimitRefusal | undefined; cookies?: string[]; refresh?: string }

/** Returns the problem that a page shows if a rate limit is exceeded. The headers contain the wait in seconds. */
export const limitProblem = (headers: Record<string, string>) => ({
  code: 'TOO_MANY_REQUESTS',
  values: { minutes: Math.ceil(Number(headers['retry-after']) / 60) },
})

/** Shows that a rate limit is exceeded. */
export const showLimit = (translator: PageTranslator, exceeded: LimitRefusal): Outcome => ({
  html: errorPage(translator, limitProblem(exceeded.headers)),
  exceeded,
})

/** Creates the functions that answer a call with a page in the language of the caller. */
export function createPageAnswers(
  app: Pick<App, 'name' | 'signIn'>,
  { request, context: { log, requestId } }: Call,
  response: ServerResponse,
) {
  const providers = offeredProviders(app.signIn)
  const translator = createPageTranslator({ ...app, providers }, request.headers['accept-language'])

  /** `redirectUri` is an additional permitted target of the form on the page. */
  function show(outcome: Outcome, redirectUri?: string) {
    if ('location' in outcome) return redirect(response, outcome.location, outcome.cookies)
    const { html, exceeded, cookies = [], refresh } = outcome
    setHeaders({ ...exceeded?.headers, ...(refresh !== undefined && { refresh: `0; url=${refresh}` }) })
    if (cookies.length > 0) response.appendHeader('set-cookie', cookies)
    return write(exceeded?.error.status ?? 200, html, redirectUri)
  }

  const showProblem = (status: number, problem: Problem) => write(status, errorPage(translator, problem))

  /** Shows an error that can occur on every page. Throws every other error. */
  function showError(error: unknown) {
    if (error instanceof FetchRefused) {
      setHeaders(error.headers)
      const isLimit = error.status === 429
      return showProblem(
        error.status,
        isLimit ? limitProblem(error.headers) : { code: 'SERVICE_UNAVAILABLE' },
      )
    }
    const publicError = error instanceof ORPCError ? error : toPublicDatabaseError(error)
    if (!publicError) throw error
    if (publicError.status >= 500) log.error({ err: error, req: { id: requestId } }, 'a request failed')
    if (publicError.status === 503) setHeaders({ 'retry-after': '1' })
    return showProblem(publicError.status, publicError)
  }

  function setHeaders(headers: Record<string, string> = {}) {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  }

  function write(status: number, html: string, redirectUri?: string) {
    setHeaders({
      'content-security-policy': contentSecurityPolicy(redirectUri && formTarget(redirectUri)),
      'content-language': translator.language,
      // With the default policy `no-referrer`, browsers send `Origin: null` with forms. `isOwnPage` needs the real
      // origin if the service uses plain HTTP, because browsers send `Sec-Fetch-Site` only to secure origins.
      'referrer-policy': 'same-origin',
    })
    response.appendHeader('vary', 'Accept-Language')
    return sendBody(response, status, html, 'text/html; charset=utf-8')
  }

  return { translator, show, showProblem, showError }
}

export type PageAnswers = ReturnType<typeof createPageAnswers>

/** Returns the target of a redirect URI for a Content-Security-Policy. */
const formTarget = (uri: string) => {
  const { protocol, origin, hostname } = new URL(uri)
  // A content security policy cannot contain an opaque origin or an IPv6 address. The policy then contains only the
  // scheme of the redirect URI.
  return origin === 'null' || hostname.startsWith('[') ? protocol : origin
}

export function redirect(response: ServerResponse, location: string, cookies: string[] = []) {
  if (cookies.length > 0) response.appendHeader('set-cookie', cookies)
  response.writeHead(303, { location }).end()
  return true
}
