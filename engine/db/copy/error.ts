import { toErrorMessage } from '../errors.ts'

/** An error of a copy, which has changed nothing in the target. */
export class CopyError extends Error {}

export const rethrowFor =
  (name: string) =>
  (error: unknown): never => {
    if (error instanceof CopyError) throw error
    throw new CopyError(`${name} cannot be copied: ${toErrorMessage(error)}. Nothing was copied.`, {
      cause: error,
    })
  }

export const filledError = (table: string) =>
  new CopyError(`The target is not empty: ${table} has rows. Create a new database. Nothing was copied.`)
