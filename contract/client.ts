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

/**
 * A client with an async function for each procedure: `client.tasks.create({ taskTitle })`. A mapped type, because the
 * compiler then writes the name `Client` into the declarations of a library that exports a client, and not the name of a type of a
 * package that the library does not have (TS2742).
 */
export type Client<Context extends CallContext = CallContext> = {
  [Resource in keyof Contract]: ContractRouterClient<Contract[Resource], Context>
}

/** The types of all inputs and outputs: `Outputs['tasks']['get']`. */
export type Inputs = InferContractRouterInputs<Contract>
export type Outputs = InferContractRouterOutputs<Contract>

/** Creates a client that uses RPC. The bundle stays small, because it contains no schemas. */
export const createClient = <Context extends CallContext = CallContext>(
  origin: string,
  options?: RpcClientOptions<Context>,
): Client<Context> => createRpcClient<Contract, Context>(origin, options)

/** Creates a client that uses the documented REST paths. */
export const createRestClient = (origin: string, options?: ClientOptions): Client =>
  createRestClientOf(contract, origin, options)
