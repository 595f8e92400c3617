import { isDeepStrictEqual } from 'node:util'
import postgres from 'postgres'
import { z } from 'zod'

import { type Contender, supports } from './contenders.ts'
import type { Operation, Protocol } from './operations.ts'
import type { Server } from './servers.ts'

const RpcBody = z.object({ json: z.unknown() })
const ToolResult = z.object({ result: z.object({ structuredContent: z.unknown() }) })

/** Returns the output of a procedure in a response of each protocol. */
const outputIn: Record<Protocol, (text: string) => unknown> = {
  rest: (text) => JSON.parse(text) as unknown,
  rpc: (text) => RpcBody.parse(JSON.parse(text)).json,
  mcp: (text) =>
    ToolResult.parse(JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text)).result.structuredContent,
}

async function send(
  { server, protocol }: Contender,
  operation: Operation,
  headers: Record<string, string> = {},
  body?: string,
) {
  const request = operation[protocol]
  const response = await fetch(server.origin + (request?.path ?? ''), {
    ...request,
    ...(body !== undefined && { body }),
    headers: { ...request?.headers, ...headers },
  })
  const text = await response.text()
  if (!response.ok) return { status: response.status, body: text }
  const output = outputIn[protocol](text)
  return { status: response.status, body: operation.normalize ? operation.normalize(output) : output }
}

/** Throws unless all contenders respond 200 with the same body, for every operation and each of its callers. */
export async function checkEqualResponses(contenders: Contender[], operations: Operation[]) {
  for (const operation of operations) {
    const compared = contenders.filter(
      (contender) => contender.database !== undefined && supports(contender, operation),
    )
    const credentials = await Promise.all(compared.map((contender) => contender.credentials()))
    const callers = credentials[0]?.[operation.callers] ?? []
    for (const caller of callers.keys()) {
      const responses = await Promise.all(
        compared.map((contender, index) =>
          send(contender, operation, credentials[index]?.[operation.callers][caller]),
        ),
      )
      const different = compared.filter((_, index) => !isDeepStrictEqual(responses[index], responses[0]))
      if (different.length > 0 || responses[0]?.status !== 200)
        throw new Error(
          `${operation.name}: ${different.map(({ name }) => name).join(', ')} give a different response\n${JSON.stringify(responses, null, 2)}`,
        )
    }
  }
}

/** Throws unless all contenders reject missing and forged sessions with 401, and invalid bodies with 400. */
export async function checkRefusals(contenders: Contender[], operations: Operation[]) {
  const forged = { cookie: 'better-auth.session_token=forged.c2lnbmF0dXJl', authorization: 'Bearer forged' }
  for (const operation of operations)
    for (const contender of contenders.filter((contender) => supports(contender, operation))) {
      const [caller] = (await contender.credentials())[operation.callers]
      const isOpen = operation.callers === 'anyone'
      // Tools describe their errors with status 200. `{}` is the body of a call without input.
      const hasInput = contender.protocol !== 'mcp' && (operation[contender.protocol]?.body ?? '{}') !== '{}'
      const responses = [
        ...(isOpen ? [] : [send(contender, operation), send(contender, operation, forged)]),
        ...(hasInput ? [send(contender, operation, caller, '{"json":{"limit":-7},"other":7}')] : []),
      ]
      const expected = [...(isOpen ? [] : [401, 401]), ...(hasInput ? [400] : [])]
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
