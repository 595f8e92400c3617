// Types that are part of the inferred types of contracts must be exported here, so that declarations can name them.

export { type AppContract, appContract } from './app-contract.ts'
export { MAX_EMAIL } from './bounds.ts'
export {
  administrative,
  administrativeErrors,
  changing,
  creating,
  type DeclaredError,
  publicAccess,
  reading,
  sensitive,
  sharing,
  signedIn,
  writing,
} from './builders.ts'
export {
  type CallContext,
  type ClientOf,
  type ClientOptions,
  createRestClient,
  createRpcClient,
  decodeErrorBody,
  isDefinedError,
  isValidationError,
  ORPCError,
  pages,
  type RpcClientOptions,
  safe,
} from './client/client.ts'
export type { LiveUpdateOf } from './built-in/engine.ts'
export { exportPart } from './export-part.ts'
export { isRightToLeft, type Language } from './languages.ts'
export { topic, type WatchInput } from './built-in/live.ts'
export type { Alternative, ItemAction, Meta, RateLimit, Scope, Topic } from './meta.ts'
export { type ResourceContract, resourceContract } from './resource-contract.ts'
export {
  ById,
  isBlank,
  Page,
  requestSchemas,
  responseSchemas,
  RowId,
  Search,
  Success,
  text,
  Timestamp,
  trimInvisibleStart,
} from './schemas.ts'
