import type { InferContractRouterOutputs } from '@orpc/contract'
import { createRpcClient } from 'tallystick-contract'
import { createQueryUtils } from 'tallystick-contract/query'

import type { Contract } from '../contract/index.ts'

/** The procedures for TanStack Query: `useQuery(orpc.account.get.queryOptions())`. */
export const orpc = createQueryUtils(createRpcClient<Contract>(location.origin))

/** The types of all outputs: `Outputs['account']['get']`. */
export type Outputs = InferContractRouterOutputs<Contract>
