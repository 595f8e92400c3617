import type { InferContractRouterOutputs } from '@orpc/contract'

import { accountContract } from './account.ts'
import { apps } from './apps.ts'
import { audit } from './audit.ts'
import type { ExportParts } from './export-part.ts'
import { liveContract } from './live.ts'
import type { Topic } from './meta.ts'
import { sessions, sessionsTopic } from './sessions.ts'
import { status } from './status.ts'
import { tokens } from './tokens.ts'

/** The contracts that every application has, with the topics and the parts of the export of the application. */
export const engineContract = <Declared extends Topic, const Parts extends ExportParts>(
  topics: readonly Declared[],
  exportParts: Parts,
) => ({
  status,
  account: accountContract(exportParts),
  sessions,
  live: liveContract<readonly [...Declared[], typeof sessionsTopic]>([...topics, sessionsTopic]),
  apps,
  tokens,
  audit,
})

/** The contracts that every application has, with any topics and any parts of the export. */
export type EngineContract = ReturnType<typeof engineContract<Topic, ExportParts>>

/**
 * An update of `live.watch`: a topic with its current state.
 *
 * @example
 * type LiveUpdate = LiveUpdateOf<typeof contract> // { topic: 'loans'; state: { loans: Loan[] } } | …
 */
export type LiveUpdateOf<Contract extends EngineContract> =
  InferContractRouterOutputs<Contract>['live']['watch'] extends AsyncIterator<infer Update> ? Update : never
