import { ORPCError } from '@orpc/client'
import type { AnySchema } from '@orpc/contract'
import type { Promisable } from '@orpc/shared'
import { createHash } from 'node:crypto'

import { IdempotencyKey, headerErrors } from '../../contract/base.ts'
import { badRequest } from '../../contract/errors.ts'
import * as query from '../../db/idempotency.ts'
import type { Caller, Context, Reply } from '../context.ts'
import { validateOutput } from '../output.ts'

interface Asked {
  path: readonly string[]
  input: unknown
  outputSchema?: AnySchema | undefined
}

/**
 * Creates once for each key of a person, and repeats the first answer, with its headers, when the request is sent again.
 * One transaction stores the row and the answer. The answer is stored and repeated without undeclared properties: an
 * earlier release may have stored the answer.
 */
export async function once(
  { db, reply, headers }: Context,
  identity: Caller,
  asked: Asked,
  create: (own: Pick<Context, 'db' | 'reply'>) => Promisable<{ output: unknown }>,
) {
  const userId = identity.user.id
  const key = readKey(headers['idempotency-key'])
  const fingerprint = fingerprintOf(asked)
  const { outputSchema } = asked
  const declared = (output: unknown) => (outputSchema ? validateOutput(outputSchema, output) : output)
  const answer = await db.transaction(async (tx) => {
    if (!(await query.tryLock(tx, userId, key))) {
      reply.set('retry-after', '1')
      throw new ORPCError('UNDER_WAY', headerErrors.UNDER_WAY)
    }
    const known = await query.find(tx, userId, key)
    if (known && known.fingerprint !== fingerprint) throw new ORPCError('KEY_REUSED', headerErrors.KEY_REUSED)
    if (known) return { ...known.answer, output: await declared(known.answer.output) }
    const own: Reply = new Map()
    const { output } = await create({ db: tx, reply: own })
    const answer = { output: await declared(output), headers: [...own] }
    await query.put(tx, { userId, key, fingerprint, answer })
    return answer
  })
  for (const [name, value] of answer.headers) reply.set(name, value)
  return { output: answer.output, context: identity }
}

function readKey(given: unknown) {
  const { data, error } = IdempotencyKey.safeParse(given)
  if (error) throw badRequest(error.issues.map(({ message }) => ({ path: ['Idempotency-Key'], message })))
  return data
}

/**
 * The input has not been validated, but is plain JSON of a bounded depth: see src/http/body.ts. The empty lists are part of the
 * fingerprints of release 1.0, so that a request is recognised during and after an upgrade.
 */
const fingerprintOf = ({ path, input }: Asked) =>
  createHash('sha256')
    .update(JSON.stringify([path, [input, [], [], []]]))
    .digest('base64url')
