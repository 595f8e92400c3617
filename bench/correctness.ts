import { isDeepStrictEqual } from 'node:util'
import postgres from 'postgres'
import { z } from 'zod'

import { headersOf, type Operation, requestOf } from './operations.ts'
import type { Cookies } from './seed.ts'
import type { Contender, Server } from './servers.ts'

async function send(contender: Contender, operation: Operation, cookie?: string, body?: string) {
  const request = { ...requestOf(operation, contender.rpc), ...(body !== undefined && { body }) }
  const response = await fetch(contender.server.origin + request.path, {
    method: request.method,
    body: request.body,
    headers: { ...headersOf(operation, request), ...(cookie !== undefined && { cookie }) },
  })
  const text = await response.text()
  if (!response.ok) return { status: response.status, body: text }
  const parsed: unknown = JSON.parse(text)
  const unwrapped = contender.rpc ? z.object({ json: z.unknown() }).parse(parsed).json : parsed
  return { status: response.status, body: operation.normalize(unwrapped) }
}

/** Throws unless all contenders respond 200 with the same body, for every operation and each of its callers. */
export async function checkEqualResponses(
  contenders: Contender[],
  operations: Operation[],
  cookies: Cookies,
) {
  for (const operation of operations)
    for (const cookie of operation.callers === 'anyone' ? [undefined] : cookies[operation.callers]) {
      const responses = await Promise.all(contenders.map((contender) => send(contender, operation, cookie)))
      const different = contenders.filter((_, index) => !isDeepStrictEqual(responses[index], responses[0]))
      if (different.length > 0 || responses[0]?.status !== 200)
        throw new Error(
          `${operation.name}: ${different.map(({ name }) => name).join(', ')} give a different response\n${JSON.stringify(responses, null, 2)}`,
        )
    }
}

/** Throws unless all contenders reject missing and forged sessions with 401, and invalid bodies with 400. */
export async function checkRefusals(contenders: Contender[], operations: Operation[], cookies: Cookies) {
  const invalid = { cookie: 'better-auth.session_token=forged.c2lnbmF0dXJl', body: '{"other":7}' }
  for (const contender of contenders)
    for (const operation of operations) {
      const [cookie] = cookies[operation.callers]
      const responses = [
        ...(operation.callers === 'anyone'
          ? []
          : [send(contender, operation), send(contender, operation, invalid.cookie)]),
        ...(operation.body === undefined ? [] : [send(contender, operation, cookie, invalid.body)]),
      ]
      const expected = [
        ...(operation.callers === 'anyone' ? [] : [401, 401]),
        ...(operation.body === undefined ? [] : [400]),
      ]
      const statuses = (await Promise.all(responses)).map(({ status }) => status)
      if (!isDeepStrictEqual(statuses, expected))
        throw new Error(
          `${contender.name}: ${operation.name} refuses with ${statuses.join()}, not ${expected.join()}`,
        )
    }
}

const CounterBody = z.object({ count: z.number() })

export const readCounter = async (sql: postgres.Sql) =>
  CounterBody.parse((await sql`select count::float8 from counter`)[0]).count

/**
 * Sends `total` increments, at most 64 at a time. Throws unless the responses contain `total` different values and the
 * counter grows by `total`. If the value is a multiple of 50, also verifies that the increment was committed before the
 * response.
 */
export async function checkIncrements({ origin }: Server, databaseUrl: string, total: number) {
  const sql = postgres(databaseUrl, { max: 8 })
  const before = await readCounter(sql)
  const [durability] = await sql`
    select current_setting('fsync') = 'on' and current_setting('synchronous_commit') = 'on' as durable`
  const values: number[] = []
  let remaining = total
  const sendIncrements = async () => {
    while (remaining-- > 0) {
      const response = await fetch(`${origin}/api/counter/increment`, { method: 'POST' })
      const { count } = CounterBody.parse(await response.json())
      values.push(count)
      // `sql` is a connection of this process, not of the server, so it reads only committed values. With fsync and
      // synchronous_commit on, a committed value is on the disk.
      if (count % 50 === 0 && (await readCounter(sql)) < count)
        throw new Error(`The response contained ${count} before the transaction was committed`)
    }
  }
  await Promise.all(Array.from({ length: 64 }, sendIncrements))
  const growth = (await readCounter(sql)) - before
  await sql.end()
  const distinct = new Set(values).size
  if (distinct !== total || growth !== total)
    throw new Error(`${total} increments: ${distinct} distinct values, and the counter grew by ${growth}`)
  return { total, distinct, growth, durable: durability?.durable === true }
}
