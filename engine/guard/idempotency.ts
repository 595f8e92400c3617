import { ORPCError } from '@orpc/client'
import type { AnySchema } from '@orpc/contract'
import type { Promisable } from '@orpc/shared'
import { createHash } from 'node:crypto'
import { badRequest, idempotencyErrors, IdempotencyKey } from 'tallystick-contract/internal'

import * as query from '../db/idempotency.ts'
import type { Caller, Reply } from '../caller.ts'
import type { Context } from '../context.ts'
import { validateOutput } from '../output.ts'
import { serializer } from './fingerprint.ts'

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
  { db, reply, headers }: Context,
  caller: Caller,
  request: KeyedRequest,
  create: (overrides: Pick<Context, 'db' | 'reply'>) => Promisable<{ output: unknown }>,
) {
  const userId = caller.user.id
  const key = readKey(headers['idempotency-key'])
  const fingerprint = fingerprintOf(request)
  const { outputSchema } = request
  const validate = (output: unknown) => (outputSchema ? validateOutput(outputSchema, output) : output)
  const answer = await db.transaction(async (tx) => {
    if (!(await query.tryLock(tx, userId, key))) {
      reply.set('retry-after', '1')
      throw new ORPCError('UNDER_WAY', idempotencyErrors.UNDER_WAY)
    }
    const stored = await query.find(tx, userId, key)
    if (stored && stored.fingerprint !== fingerprint)
      throw new ORPCError('KEY_REUSED', idempotencyErrors.KEY_REUSED)
    if (stored) {
      const { output, meta = [], headers } = stored.answer
      return { output: await validate(serializer.deserialize(output, meta)), headers }
    }
    const ownReply: Reply = new Map()
    const created = await create({ db: tx, reply: ownReply })
    const output = await validate(created.output)
    const headers = [...ownReply]
    const [json, meta] = serializer.serialize(output)
    await query.put(tx, { userId, key, fingerprint, answer: { output: json, meta, headers } })
    return { output, headers }
  })
  for (const [name, value] of answer.headers) reply.set(name, value)
  return { output: answer.output, context: caller }
}

function readKey(header: unknown) {
  const { data, error } = IdempotencyKey.safeParse(header)
  if (error) throw badRequest(error.issues.map(({ message }) => ({ path: ['Idempotency-Key'], message })))
  return data
}

/**
 * Hashes the operation and its input. The types that JSON lacks are part of the hash, because otherwise another Set
 * would match a stored answer. The input has not been validated yet, but its depth is limited: see
 * engine/http/server/body.ts. Release 1.0 hashed `[input, [], [], []]`: a plain input has the same hash today, so that
 * a call can be repeated after an upgrade.
 */
function fingerprintOf({ path, input }: KeyedRequest) {
  const [json, meta] = serializer.serialize(input)
  const serialized = [meta.length > 0 ? json : input, meta, [], []]
  return createHash('sha256')
    .update(JSON.stringify([path, serialized]))
    .digest('base64url')
}
