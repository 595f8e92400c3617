import type { AnySchema, ErrorMap, Route } from '@orpc/contract'
import type { Meta } from 'tallystick-contract'

/** The parts of a procedure (`procedure['~orpc']`) that the guard reads. An endpoint has the same parts (./endpoints.ts). */
export interface ProcedureContract {
  meta: Meta
  route: Route
  errorMap: ErrorMap
  inputSchema?: AnySchema
  outputSchema?: AnySchema
  /** The key by which `statementChecksOf` (engine/guard/permissions.ts) finds the permissions that the handler's own statement checks. */
  handler: object
  /** If the guard is not the last one, the guard checks all permissions itself (`inStatement` in engine/guard/index.ts). */
  middlewares: readonly unknown[]
}
