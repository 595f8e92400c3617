import type { InferContractRouterInputs, InferContractRouterOutputs } from '@orpc/contract'
import { createRpcClient, type EngineContract } from 'tallystick-contract/internal'
import { createQueryUtils, type QueryUtils } from 'tallystick-contract/query'

/** The client of the operations that every application has. An application creates a client of its own contract. */
export const client = createRpcClient<EngineContract>(location.origin)
export const orpc: QueryUtils<EngineContract> = createQueryUtils<EngineContract>(client)

/** The types of all inputs and outputs: `Outputs['sessions']['list']`. */
export type Inputs = InferContractRouterInputs<EngineContract>
export type Outputs = InferContractRouterOutputs<EngineContract>
