import type { AnyContractRouter } from '@orpc/contract'
import { DrizzleQueryError } from 'drizzle-orm/errors'
import { pino } from 'pino'
import {
  type ClientOf,
  createRestClient,
  createRpcClient,
  type EngineContract,
} from 'tallystick-contract/internal'

import type { Endpoints } from 'tallystick/internal/app/endpoint'
import type { App } from 'tallystick/internal/app/resource'
import { createTallystick, type Tallystick } from '../index.ts'
import { selectTransports } from '../transports.ts'
import { type Snapshot, takeSnapshot } from './snapshots.ts'

/**
 * An application while its laws run. A law is a rule that every application obeys, as a test; the cases are the calls of the
 * application with which the laws test it (docs/laws.md). The laws make each call in process, over RPC and over REST.
 */
export interface Running extends Omit<Tallystick<ClientOf<EngineContract>>, 'client'> {
  app: App
  client: (headers: Record<string, string>) => ClientOf<EngineContract>
  origin: string
  /** The database after the migrations. */
  migrated: Snapshot
  /** Returns the latest causes of internal errors since the last call: callers receive internal errors without the cause. */
  takeCauses: () => string[]
  /** Returns the names of the endpoints whose handlers ran since the last call. */
  takeRuns: () => string[]
}

/** Earlier errors may belong to other calls, which expected an error. */
const MAX_CAUSES = 2

/** A log that keeps the messages of errors, instead of writing lines. */
function createCauses() {
  const causes: string[] = []
  const log = pino({
    level: 'error',
    hooks: {
      logMethod([details]) {
        if (typeof details === 'object' && details && 'err' in details)
          causes.push(describeCause(details.err))
      },
    },
  })
  return { log, takeCauses: () => causes.splice(0).slice(-MAX_CAUSES) }
}

function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const issues = 'issues' in error ? ` ${JSON.stringify(error.issues)}` : ''
  const frame = /^ +at .*$/m.exec(error.stack ?? '')?.[0] ?? ''
  const cause = error.cause === undefined ? '' : `\nCause: ${describeCause(error.cause)}`
  // Drizzle's own message contains the parameters of the statement.
  const message = error instanceof DrizzleQueryError ? `Failed query: ${error.query}` : error.message
  return `${error.name}: ${message}${issues}\n${frame}${cause}`
}

/**
 * Returns the endpoints with handlers that only report that they ran: the laws check what happens before the handler, and do not send
 * what the handler expects.
 */
const withReporters = (endpoints: Endpoints, report: (name: string) => void): Endpoints =>
  Object.fromEntries(
    Object.entries(endpoints).map(([name, endpoint]) => [
      name,
      {
        ...endpoint,
        handler: () => {
          report(name)
          return new Response(null, { status: 204 })
        },
      },
    ]),
  )

export async function start(app: App, environment: Record<string, string> = {}): Promise<Running> {
  const runs: string[] = []
  const endpoints = withReporters(app.endpoints, (name) => runs.push(name))
  const tallystick = await createTallystick(
    { ...app, endpoints } as App<EngineContract & AnyContractRouter>,
    environment,
    // Otherwise a regular read also delivers a change that no procedure announces, and hides the missing announcement.
    { compareStates: false },
  )
  // Replaces the log of the services, so that tests show the causes of internal errors.
  const { log, takeCauses } = createCauses()
  Object.assign(tallystick.services, { log })
  const { db } = tallystick.services
  return {
    ...tallystick,
    app,
    origin: await tallystick.listen(),
    migrated: await takeSnapshot(db),
    takeCauses,
    takeRuns: () => runs.splice(0),
  }
}

/** Creates a client that uses one transport. The headers contain the credentials. */
export type Connect = (running: Running, headers: Record<string, string>) => ClientOf<EngineContract>

export const inProcess: Connect = ({ client }, headers) => client(headers)

export const transports = selectTransports<Connect>({
  'in process': inProcess,
  'over RPC': ({ origin }, headers) => createRpcClient<EngineContract>(origin, { headers }),
  'over REST': ({ app, origin }, headers) =>
    createRestClient(app.contract as EngineContract & AnyContractRouter, origin, { headers }),
})

/**
 * Adds the causes of internal errors to an error. In process and outside of production, callers receive no other
 * description of these errors.
 */
export function explain(error: unknown, { takeCauses }: Pick<Running, 'takeCauses'>) {
  const causes = takeCauses()
  if (causes.length === 0) return error
  const message = error instanceof Error ? error.message : String(error)
  return new Error([message, ...causes].join('\n'), { cause: error })
}
