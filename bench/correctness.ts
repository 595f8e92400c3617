import { isDeepStrictEqual } from 'node:util'
import postgres from 'postgres'
import { z } from 'zod'

import type { Cookies } from './seed.ts'
import type { Contender, Server } from './servers.ts'
import { headersOf, requestOf, type Work } from './requests.ts'

async function ask(contender: Contender, work: Work, cookie?: string, body?: string) {
  const request = { ...requestOf(work, contender.rpc), ...(body !== undefined && { body }) }
  const response = await fetch(contender.server.origin + request.path, {
    method: request.method,
    body: request.body,
    headers: { ...headersOf(work, request), ...(cookie !== undefined && { cookie }) },
  })
  const text = await response.text()
  if (!response.ok) return { status: response.status, answer: text }
  const answer: unknown = JSON.parse(text)
  const unwrapped = contender.rpc ? z.object({ json: z.unknown() }).parse(answer).json : answer
  return { status: response.status, answer: work.comparable(unwrapped) }
}

/** All contenders must give everybody the same answers. */
export async function checkEqual(contenders: Contender[], works: Work[], cookies: Cookies) {
  for (const work of works)
    for (const cookie of work.by === 'anyone' ? [undefined] : cookies[work.by]) {
      const answers = await Promise.all(contenders.map((contender) => ask(contender, work, cookie)))
      const different = contenders.filter((_, index) => !isDeepStrictEqual(answers[index], answers[0]))
      if (different.length > 0 || answers[0]?.status !== 200)
        throw new Error(
          `${work.name}: ${different.map(({ name }) => name).join(', ')} answer otherwise\n${JSON.stringify(answers, null, 2)}`,
        )
    }
}

/** What is wrong must be refused by all. */
export async function checkRefusals(contenders: Contender[], works: Work[], cookies: Cookies) {
  const wrong = { cookie: 'better-auth.session_token=forged.c2lnbmF0dXJl', body: '{"other":7}' }
  for (const contender of contenders)
    for (const work of works) {
      const [cookie] = cookies[work.by]
      const answers = [
        ...(work.by === 'anyone' ? [] : [ask(contender, work), ask(contender, work, wrong.cookie)]),
        ...(work.body === undefined ? [] : [ask(contender, work, cookie, wrong.body)]),
      ]
      const wanted = [...(work.by === 'anyone' ? [] : [401, 401]), ...(work.body === undefined ? [] : [400])]
      const statuses = (await Promise.all(answers)).map(({ status }) => status)
      if (!isDeepStrictEqual(statuses, wanted))
        throw new Error(
          `${contender.name}: ${work.name} refuses with ${statuses.join()}, not ${wanted.join()}`,
        )
    }
}

const Counted = z.object({ count: z.number() })

export const readCount = async (sql: postgres.Sql) =>
  Counted.parse((await sql`select count::float8 from counter`)[0]).count

/** Many increments at once: every value answered once, committed before its answer, and none lost. */
export async function checkIncrements({ origin }: Server, databaseUrl: string, total: number) {
  const sql = postgres(databaseUrl, { max: 8 })
  const before = await readCount(sql)
  const [durability] = await sql`
    select current_setting('fsync') = 'on' and current_setting('synchronous_commit') = 'on' as kept`
  const values: number[] = []
  let left = total
  const step = async () => {
    while (left-- > 0) {
      const response = await fetch(`${origin}/api/counter/increment`, { method: 'POST' })
      const { count } = Counted.parse(await response.json())
      values.push(count)
      // What another connection sees is committed; with fsync on, that is on the disk.
      if (count % 50 === 0 && (await readCount(sql)) < count)
        throw new Error(`${count} was answered before it was committed`)
    }
  }
  await Promise.all(Array.from({ length: 64 }, step))
  const grown = (await readCount(sql)) - before
  await sql.end()
  const distinct = new Set(values).size
  if (distinct !== total || grown !== total)
    throw new Error(`${total} increments: ${distinct} distinct values, and the counter grew by ${grown}`)
  return { total, distinct, grown, durable: durability?.kept === true }
}
