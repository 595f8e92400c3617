import type { AnyContractProcedure } from '@orpc/contract'

import type { ExportPart } from './export-part.ts'
import type { Topic } from './meta.ts'

/** The contracts of the procedures of a resource, by the name of the procedure. */
export type ProcedureContracts = Readonly<Record<string, AnyContractProcedure>>

/**
 * What a resource promises to clients: the value of `resourceContract`.
 *
 * @example
 * const os = implement(loans.procedures)
 */
export interface ResourceContract<
  Procedures extends ProcedureContracts = ProcedureContracts,
  Declared extends Topic = Topic,
  Part extends ExportPart | undefined = ExportPart | undefined,
> {
  procedures: Procedures
  /** The topics that clients can watch. */
  topics: readonly Declared[]
  /** The part of the resource in the export of an account. */
  exports: Part
}

/**
 * Declares a resource: its procedures, its topics, and its part of the export of an account.
 *
 * @example
 * export const loans = resourceContract({
 *   topics: [loansTopic],
 *   exports: loansExport,
 *   procedures: { list: reading.meta({ reads: loansTopic }).output(LoanList) },
 * })
 */
export const resourceContract = <
  Procedures extends ProcedureContracts,
  Topics extends readonly Topic[] = readonly [],
  Part extends ExportPart | undefined = undefined,
>({
  procedures,
  topics,
  exports,
}: {
  procedures: Procedures
  topics?: Topics
  exports?: Part
}): ResourceContract<Procedures, Topics[number], Part> => ({
  procedures,
  topics: topics ?? [],
  exports: exports as Part,
})
