import { StandardRPCJsonSerializer } from '@orpc/client/standard'

/** The serializer of RPC: converts a value to JSON, and a list with the types that JSON lacks. */
export const serializer = new StandardRPCJsonSerializer()
