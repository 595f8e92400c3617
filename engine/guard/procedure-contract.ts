import type { AnySchema, ErrorMap } from '@orpc/contract'
import type { Meta } from 'tallystick-contract'

/** The parts of a procedure's contract that the guard reads. */
export interface ProcedureContract {
  meta: Meta
  errorMap: ErrorMap
  inputSchema?: AnySchema
  outputSchema?: AnySchema
}
