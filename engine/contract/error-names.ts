import { ORPCError } from '@orpc/client'

/**
 * Sets the name of an error of oRPC, and returns the error. Without this name, the name is `Error`. The name is a value,
 * because bundlers shorten the names of classes.
 */
export function withName<Thrown>(error: Thrown): Thrown {
  if (error instanceof ORPCError) error.name = 'ORPCError'
  // The messages of oRPC's links for an answer in another format, for example the page of a proxy.
  else if (error instanceof Error && /^Cannot parse|^Invalid .* response/.test(error.message))
    error.name = 'ResponseError'
  return error
}
