// Only for the engine: these names change without notice.

export * from './index.ts'

export type { ExportPartsOf } from './account.ts'
export { isId, toId } from './app-id.ts'
export { apps } from './apps.ts'
export { audiences, tokenClientIds } from './audiences.ts'
export { audit } from './audit.ts'
export { type AuditAction, auditActions, type AuditOutcome, auditOutcomes } from './audit-actions.ts'
export { MAX_NAME, tokenBounds } from './bounds.ts'
export { idempotencyErrors, ifMatchErrors, signedInErrors } from './builders.ts'
export type { EngineContract } from './engine.ts'
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
export { linkToNext, nextCursor } from './link.ts'
export { readTopics } from './live.ts'
export { isChange, limitsOf, MAX_BYTES, metaOf, scopes, type Tool } from './meta.ts'
export { keepRetryTime, retryTimeOf } from './retry-time.ts'
export { IdempotencyKey, MAX_LIMIT } from './schemas.ts'
export { sessions, sessionsTopic } from './sessions.ts'
export { status } from './status.ts'
export { grantLimit, tokens } from './tokens.ts'
