export { type DataOf, type ExportPart, exportPart, type PartsOf } from './account.ts'
export { appContract } from './app-contract.ts'
export { isId, toId } from './app-id.ts'
export { apps } from './apps.ts'
export { audiences, tokenClientIds } from './audiences.ts'
export { audit } from './audit.ts'
export { type AuditAction, auditActions, type AuditOutcome, auditOutcomes } from './audit-actions.ts'
export { MAX_EMAIL, MAX_NAME, tokenBounds } from './bounds.ts'
export {
  administrative,
  administrativeErrors,
  changing,
  creating,
  idempotencyErrors,
  ifMatchErrors,
  publicAccess,
  reading,
  sensitive,
  signedIn,
  signedInErrors,
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
} from './client.ts'
export { type EngineContract, type LiveUpdateOf } from './engine.ts'
export {
  badRequest,
  BadRequestData,
  errorBody,
  ErrorBody,
  type SchemaIssue,
  toPublicIssues,
  unavailable,
} from './errors.ts'
export { isRightToLeft, type Language, languages, matchLanguage } from './languages.ts'
export { linkToNext, nextCursor } from './link.ts'
export { readTopics, topic, type WatchInput } from './live.ts'
export {
  type Alternative,
  isChange,
  MAX_BYTES,
  type Meta,
  limitsOf,
  metaOf,
  type RateLimit,
  type Scope,
  scopes,
  type Tool,
  type Topic,
} from './meta.ts'
export { type ProcedureContracts, resourceContract, type ResourceContract } from './resource-contract.ts'
export { keepRetryTime, retryTimeOf } from './retry-time.ts'
export {
  ById,
  IdempotencyKey,
  isBlank,
  MAX_LIMIT,
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
export { sessions, sessionsTopic } from './sessions.ts'
export { status } from './status.ts'
export { grantLimit, tokens } from './tokens.ts'
