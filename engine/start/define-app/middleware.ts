import { type AnyProcedure, Procedure } from '@orpc/server'

import type { AppMiddleware } from '../../app/hooks.ts'
import type { Resource } from '../../app/resource.ts'
import { mapProcedures } from './map-procedures.ts'

/** Returns the function that adds middlewares to each procedure of a resource. */
export const withMiddlewares = (middlewares: readonly AppMiddleware[]) => (resource: Resource) =>
  middlewares.length > 0
    ? mapProcedures(resource, (procedure) => addMiddlewares(procedure, middlewares))
    : resource

/**
 * The middlewares run between those of the procedure and its handler, and within the validation of input and output: one that answers
 * without the handler must answer as the contract declares.
 */
function addMiddlewares(procedure: AnyProcedure, added: readonly AppMiddleware[]): AnyProcedure {
  const { middlewares, inputValidationIndex, outputValidationIndex, ...definition } = procedure['~orpc']
  return new Procedure({
    ...definition,
    middlewares: [...middlewares, ...added],
    // Without the limit, an index after the last own middleware would put the validation after the added ones.
    inputValidationIndex: Math.min(inputValidationIndex, middlewares.length),
    outputValidationIndex: Math.min(outputValidationIndex, middlewares.length),
  })
}
