import type { AnySchema, ErrorMap, Route } from '@orpc/contract'
import type { Meta } from 'tallystick-contract'

/** The parts of a procedure's contract that the guard reads. */
export interface ProcedureContract {
  meta: Meta
  route: Route
  errorMap: ErrorMap
  inputSchema?: AnySchema
  outputSchema?: AnySchema
  handler: object
}
