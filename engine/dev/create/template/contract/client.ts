import type {
  ContractRouterClient,
  InferContractRouterInputs,
  InferContractRouterOutputs,
} from '@orpc/contract'
import {
  type CallContext,
  type ClientOptions,
  createRestClient as createRestClientOf,
  createRpcClient,
  type RpcClientOptions,
} from 'tallystick-contract'

import { type Contract, contract } from './index.ts'

export {
  type CallContext,
  type ClientOptions,
  decodeErrorBody,
  isDefinedError,
  isValidationError,
  ORPCError,
  pages,
  type RpcClientOptions,
  safe,
} from 'tallystick-contract'
export { type Contract, contract } from './index.ts'

// The entry point of the client package that `npm run pack:client` writes.

/** A client with an async function for each procedure: `client.account.get()`. */
export type Client<Context extends CallContext = CallContext> = {
  [Resource in keyof Contract]: ContractRouterClient<Contract[Resource], Context>
}

/** The types of all inputs and outputs: `Outputs['account']['get']`. */
export type Inputs = InferContractRouterInputs<Contract>
export type Outputs = InferContractRouterOutputs<Contract>

/** Creates a client that uses RPC. The bundle of an application stays small, because it contains no schemas. */
export const createClient = <Context extends CallContext = CallContext>(
  origin: string,
  options?: RpcClientOptions<Context>,
): Client<Context> => createRpcClient<Contract, Context>(origin, options)

/** Creates a client that uses the documented REST paths. */
export const createRestClient = (origin: string, options?: ClientOptions): Client =>
  createRestClientOf(contract, origin, options)
