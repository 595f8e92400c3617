export {
  type AcceptedVersions,
  createdAt,
  hasAcceptedVersion,
  timestamptz,
  updatedAt,
  updatedIfChanged,
  version,
} from './columns.ts'
export type { Database } from './database.ts'
export { isConstraintViolation } from './errors.ts'
export {
  isAfterPosition,
  limitBytes,
  listConnections,
  pageParameters,
  type PageRequest,
  type SizedRow,
} from './pagination.ts'
export { selectWith } from './personal-data.ts'
export { coalesced, prepared, requireRow } from './statements.ts'
export { type Person, userIdColumn } from './users.ts'
