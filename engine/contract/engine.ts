import type { InferContractRouterOutputs } from '@orpc/contract'

import { accountContract, type ExportParts } from './account.ts'
import { apps } from './apps.ts'
import { audit } from './audit.ts'
import { liveContract } from './live.ts'
import type { Topic } from './meta.ts'
import { sessions, sessionsTopic } from './sessions.ts'
import { status } from './status.ts'
import { tokens } from './tokens.ts'

/**
 * The contracts that every application has. An application adds the result to its own contract; the order of the
 * contract is the order of the OpenAPI document. `topics` are the topics of the application, and `exportParts` the
 * parts of the export of an account, by the name of the resource.
 */
export const engineContract = <const Topics extends readonly Topic[], const Parts extends ExportParts>({
  topics,
  exportParts,
}: {
  topics: Topics
  exportParts: Parts
}) => ({
  status,
  account: accountContract(exportParts),
  sessions,
  live: liveContract([...topics, sessionsTopic]),
  apps,
  tokens,
  audit,
})

/** The contracts that every application has, with any topics and any parts of the export. */
export type EngineContract = ReturnType<typeof engineContract<readonly Topic[], ExportParts>>

/** An update of `live.watch`: a topic with its current state. */
export type LiveUpdateOf<Contract extends EngineContract> =
  InferContractRouterOutputs<Contract>['live']['watch'] extends AsyncIterator<infer Update> ? Update : never
