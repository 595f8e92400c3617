import { StandardRPCJsonSerializer } from '@orpc/client/standard'

/** The serializer of RPC: converts a value to JSON, and a list with the types that JSON lacks. */
export const serializer = new StandardRPCJsonSerializer()

/** Returns a text that identifies a value, including the types that JSON lacks: sets with different items differ. */
export function identify(value: unknown) {
  const [json, meta] = serializer.serialize(value)
  return JSON.stringify([json, meta])
}
