import type { Promisable } from '@orpc/shared'
import { type Meta, signedInErrors } from 'tallystick-contract/internal'

import type { Endpoint } from '../app/endpoint.ts'
import type { Caller } from '../call/caller.ts'
import type { CallConnection } from '../call/connection.ts'
import type { Context } from '../call/context.ts'
import { authenticate } from './access.ts'
import { announceAfter } from './announcements.ts'
import { entriesOf, withAuditEntries } from './audit-entries.ts'
import { observeCall } from './observed-calls.ts'
import type { ProcedureContract } from './procedure-contract.ts'

/** An endpoint with what the guard checks. */
export interface GuardedEndpoint {
  declaration: Endpoint
  /** The name in log, metrics, traces and audit trail, for example `['endpoints', 'inbox']`. */
  path: readonly string[]
  contract: ProcedureContract
}

const errorMap = {
  ...signedInErrors,
  FORBIDDEN: {
    status: 403,
    message: 'The account may not use this endpoint, or not during an impersonation',
  },
}

/** Converts the declaration of an endpoint to a contract as procedures have it, so that the guard has one set of checks. */
export function guardedEndpoint(name: string, declaration: Endpoint): GuardedEndpoint {
  const { method, path, access, audit, rateLimit, handler } = declaration
  const meta: Meta = {
    access: access ? 'signedIn' : 'public',
    ...(access?.scope && { scope: access.scope }),
    ...(access?.role === 'admin' && { administratorsOnly: true }),
    ...(access?.sensitive && { noImpersonation: true }),
    // A limit by network is counted before the body arrives (engine/http/endpoints/application.ts).
    ...(rateLimit.perAccount && { rateLimit }),
    ...(audit && { audit }),
  }
  return {
    declaration,
    path: ['endpoints', name],
    contract: { meta, route: { method, path }, errorMap, handler, middlewares: [] },
  }
}

/** What the guard adds to the context of the handler. */
type Guarded = Pick<Context, 'announce'> & Partial<Caller & CallConnection & Pick<Context, 'affects'>>

/**
 * Checks the caller, and runs `handle` with the announcements and the entries in the audit trail that a procedure has. Throws
 * only errors that the caller may see.
 */
export async function guardEndpoint(
  context: Context,
  { declaration: { method }, path, contract }: GuardedEndpoint,
  params: Readonly<Record<string, string>>,
  handle: (guarded: Guarded) => Promisable<Response>,
): Promise<Response> {
  const check = async () => {
    const caller = await authenticate(context, contract, undefined)
    if (context.malformed) throw context.malformed
    const entries = method === 'GET' ? [] : entriesOf(contract.meta, caller, path.join('.'), params.id)
    const answer = await announceAfter(context, [], [], (announce) => {
      const run = (audited?: CallConnection & Pick<Context, 'affects'>) =>
        handle({ ...caller, ...audited, announce })
      return entries.length === 0 ? run() : withAuditEntries(context, entries, run, outcomeOf)
    })
    return { output: { status: answer.status }, answer }
  }
  const { answer } = await observeCall({ context, path, input: params, errorMap: contract.errorMap }, check)
  return answer
}

const outcomeOf = ({ status }: Response) => (status < 400 ? 'accepted' : 'refused')
