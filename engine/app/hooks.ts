import type { ErrorMap } from '@orpc/contract'
import type { Context as OrpcContext, Middleware, ORPCErrorConstructorMap } from '@orpc/server'
import type { Meta } from 'tallystick-contract'

import type { Caller } from '../call/caller.ts'
import type { Context } from '../call/context.ts'

/**
 * A middleware of oRPC. The context has the caller, if the contract of the procedure requires a caller.
 *
 * @example
 * const timed: AppMiddleware = async ({ next, path, context: { log } }) => {
 *   const begin = performance.now()
 *   const result = await next()
 *   log.debug({ procedure: path.join('.'), duration: performance.now() - begin })
 *   return result
 * }
 */
export type AppMiddleware = Middleware<
  Context & Partial<Caller>,
  OrpcContext,
  unknown,
  unknown,
  ORPCErrorConstructorMap<ErrorMap>,
  Meta
>

/**
 * What an application can use outside of calls. Announcements are sent at once, so announce after the commit.
 *
 * @example
 * const countBooks = ({ db }: AppServices) => db.$count(books)
 */
export type AppServices = Pick<Context, 'db' | 'log' | 'settings' | 'announce' | 'now'>

/** Begins what an application does outside of calls. Returns the function that ends it. */
export type StartHook = (services: AppServices) => Promise<StopHook> | StopHook

export type StopHook = () => Promise<void> | void
