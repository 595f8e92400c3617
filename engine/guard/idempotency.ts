import { ORPCError } from '@orpc/client'
import type { AnySchema } from '@orpc/contract'
import type { Promisable } from '@orpc/shared'
import { createHash } from 'node:crypto'
import { badRequest, idempotencyErrors, IdempotencyKey } from 'tallystick-contract/internal'

import * as query from '../db/accounts/idempotency.ts'
import type { Caller, Reply } from '../call/caller.ts'
import type { CallConnection } from '../call/connection.ts'
import type { Context } from '../call/context.ts'
import { validateOutput } from '../values/output.ts'
import { serializer } from '../values/serializer.ts'

interface KeyedRequest {
  path: readonly string[]
  input: unknown
  outputSchema?: AnySchema | undefined
}

/**
 * Runs `create` once for each person and `Idempotency-Key`. A repeated request receives the stored answer with its
 * headers. The new row and the stored answer are committed in one transaction. Validation removes properties that the
 * contract does not declare before an answer is stored. Validation runs again before a stored answer is sent, because
 * an earlier release may have stored that answer.
 */
export async function withIdempotencyKey(
  { transaction, reply, headers }: Context,
  caller: Caller,
  request: KeyedRequest,
  create: (overrides: CallConnection & Pick<Context, 'reply'>) => Promisable<{ output: unknown }>,
) {
  const userId = caller.user.id
  const key = readKey(headers['idempotency-key'])
  const fingerprint = fingerprintOf(request)
  const { outputSchema } = request
  const validate = (value: unknown) => (outputSchema ? validateOutput(outputSchema, value) : value)
  const answer = await transaction(async (connection) => {
    const tx = connection.db
    if (!(await query.tryLock(tx, userId, key))) {
      reply.set('retry-after', '1')
      throw new ORPCError('UNDER_WAY', idempotencyErrors.UNDER_WAY)
    }
    const stored = await query.find(tx, userId, key)
    if (stored && stored.fingerprint !== fingerprint)
      throw new ORPCError('KEY_REUSED', idempotencyErrors.KEY_REUSED)
    if (stored) {
      const { output: json, meta: types = [], headers: replyHeaders } = stored.answer
      return { output: await validate(serializer.deserialize(json, types)), replyHeaders }
    }
    const ownReply: Reply = new Map()
    const created = await create({ ...connection, reply: ownReply })
    const output = await validate(created.output)
    const replyHeaders = [...ownReply]
    const [json, types] = serializer.serialize(output)
    const answered = { output: json, meta: types, headers: replyHeaders }
    await query.put(tx, { userId, key, fingerprint, answer: answered })
    return { output, replyHeaders }
  })
  for (const [name, value] of answer.replyHeaders) reply.set(name, value)
  // oRPC requires the context that a middleware adds in its result, too.
  return { output: answer.output, context: caller }
}

function readKey(header: unknown) {
  const { data, error } = IdempotencyKey.safeParse(header)
  if (error) throw badRequest(error.issues.map(({ message }) => ({ path: ['Idempotency-Key'], message })))
  return data
}

/**
 * Hashes the operation and its input. The types that JSON lacks are part of the hash, because otherwise another Set would match a
 * stored answer. The input has not been validated yet, but its depth is limited: see engine/http/server/body.ts.
 */
function fingerprintOf({ path, input }: KeyedRequest) {
  const [json, types] = serializer.serialize(input)
  // An input of plain JSON has the hash of release 1.0, so that a call can be repeated after an upgrade.
  const serialized = types.length > 0 ? [json, types, [], []] : [input, [], [], []]
  return createHash('sha256')
    .update(JSON.stringify([path, serialized]))
    .digest('base64url')
}
