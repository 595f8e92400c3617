import type { AnySchema, ErrorMap, Route } from '@orpc/contract'
import type { Meta } from 'tallystick-contract'

/** The parts of a procedure (`procedure['~orpc']`) that the guard reads. */
export interface ProcedureContract {
  meta: Meta
  route: Route
  errorMap: ErrorMap
  inputSchema?: AnySchema
  outputSchema?: AnySchema
  /** Identifies the checks of the handler's statement (engine/guard/permissions.ts). */
  handler: object
  middlewares: readonly unknown[]
}
