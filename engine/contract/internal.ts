// Only for the engine: these names change without notice.

export * from './index.ts'

export type { ExportPartsOf } from './built-in/account.ts'
export { isId, toId } from './app-id.ts'
export { apps } from './built-in/apps.ts'
export { audiences, tokenClientIds } from './built-in/audiences.ts'
export { auditContract } from './built-in/audit.ts'
export {
  type AuditAction,
  auditActions,
  type AuditOutcome,
  auditOutcomes,
  type DeclaredAction,
} from './audit-actions.ts'
export { MAX_NAME, tokenBounds } from './bounds.ts'
export { idempotencyErrors, ifMatchErrors, signedInErrors } from './builders.ts'
export { type EngineContract, isOfEngine } from './built-in/engine.ts'
export type { DataOf, ExportPart } from './export-part.ts'
export {
  badRequest,
  BadRequestData,
  errorBody,
  ErrorBody,
  type SchemaIssue,
  toPublicIssues,
  unavailable,
} from './errors.ts'
export { languages, matchLanguage } from './languages.ts'
export { linkToNext, nextCursor } from './client/link.ts'
export { readTopics } from './built-in/live.ts'
export { actionsOf, isChange, limitsOf, MAX_BYTES, metaOf, scopes, type Tool } from './meta.ts'
export type { ProcedureContracts } from './resource-contract.ts'
export { keepRetryTime, retryTimeOf } from './client/retry-time.ts'
export { IdempotencyKey, MAX_LIMIT } from './schemas.ts'
export { sessions, sessionsTopic } from './built-in/sessions.ts'
export { status } from './built-in/status.ts'
export { grantLimit, tokens } from './built-in/tokens.ts'
