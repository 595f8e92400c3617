import type { InferContractRouterOutputs } from '@orpc/contract'

import { accountContract } from './account.ts'
import { apps } from './apps.ts'
import { auditContract } from './audit.ts'
import type { DeclaredAction } from '../audit-actions.ts'
import type { ExportParts } from '../export-part.ts'
import { liveContract } from './live.ts'
import type { Topic } from '../meta.ts'
import { sessions, sessionsTopic } from './sessions.ts'
import { status } from './status.ts'
import { tokens } from './tokens.ts'

/** What the contracts of the engine must know of the procedures of an application. */
export interface DeclaredInProcedures {
  /** The actions with entries in the audit trail. */
  auditActions: readonly DeclaredAction[]
  /** Whether people can share items, so that other people can see the items of an account. */
  grantsAccess: boolean
}

/** The contracts that every application has, with the topics and the parts of the export of the application. */
export const engineContract = <Declared extends Topic, const Parts extends ExportParts>(
  topics: readonly Declared[],
  exportParts: Parts,
  { auditActions, grantsAccess }: DeclaredInProcedures,
) => ({
  status,
  account: accountContract(exportParts, grantsAccess),
  sessions,
  live: liveContract<readonly [...Declared[], typeof sessionsTopic]>([...topics, sessionsTopic]),
  apps,
  tokens,
  audit: auditContract(auditActions),
})

/** The contracts that every application has, with any topics and any parts of the export. */
export type EngineContract = ReturnType<typeof engineContract<Topic, ExportParts>>

/** The names of the contracts that every application has. */
const engineResources: Readonly<Record<keyof EngineContract, true>> = {
  status: true,
  account: true,
  sessions: true,
  live: true,
  apps: true,
  tokens: true,
  audit: true,
}

/** Returns whether every application has the resource. */
export const isOfEngine = (resource: string) => Object.hasOwn(engineResources, resource)

/**
 * An update of `live.watch`: a topic with its current state.
 *
 * @example
 * type LiveUpdate = LiveUpdateOf<typeof contract> // { topic: 'loans'; state: { loans: Loan[] } } | …
 */
export type LiveUpdateOf<Contract extends EngineContract> =
  InferContractRouterOutputs<Contract>['live']['watch'] extends AsyncIterator<infer Update> ? Update : never
