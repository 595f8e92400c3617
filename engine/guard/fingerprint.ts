import { serializer } from '../values/serializer.ts'

/** Returns a text that identifies a value, including the types that JSON lacks: sets with different items differ. */
export function identify(value: unknown) {
  const [json, meta] = serializer.serialize(value)
  return JSON.stringify([json, meta])
}
