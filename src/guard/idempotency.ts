import { ORPCError } from '@orpc/client'
import type { AnySchema } from '@orpc/contract'
import type { Promisable } from '@orpc/shared'
import { createHash } from 'node:crypto'

import { IdempotencyKey, headerErrors } from '../../contract/base.ts'
import { badRequest } from '../../contract/errors.ts'
import * as query from '../../db/idempotency.ts'
import type { Caller, Context, Reply } from '../context.ts'
import { validateOutput } from '../output.ts'

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
      throw new ORPCError('UNDER_WAY', headerErrors.UNDER_WAY)
    }
    const stored = await query.find(tx, userId, key)
    if (stored && stored.fingerprint !== fingerprint)
      throw new ORPCError('KEY_REUSED', headerErrors.KEY_REUSED)
    if (stored) return { ...stored.answer, output: await validate(stored.answer.output) }
    const ownReply: Reply = new Map()
    const { output } = await create({ db: tx, reply: ownReply })
    const answer = { output: await validate(output), headers: [...ownReply] }
    await query.put(tx, { userId, key, fingerprint, answer })
    return answer
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
 * Hashes the operation and its input. The input has not been validated yet, but it is plain JSON of limited depth: see
 * src/http/body.ts. The hash includes three empty lists, as in release 1.0. Without the lists, a repeated request would
 * not match an answer that release 1.0 has stored.
 */
const fingerprintOf = ({ path, input }: KeyedRequest) =>
  createHash('sha256')
    .update(JSON.stringify([path, [input, [], [], []]]))
    .digest('base64url')
