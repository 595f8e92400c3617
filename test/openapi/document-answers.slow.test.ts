import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { OPERATOR } from '../../engine/db/accounts/audit.ts'
import { users } from '../../engine/db/accounts/users.ts'
import * as grants from '../../engine/db/accounts/grants.ts'
import { app } from '../../src/app.ts'
import { createDocument } from '../../engine/openapi/document.ts'
import { type Answer, createFetch, sessionTokenIn } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)

interface Media {
  schema: object
  example?: unknown
  examples?: Record<string, { $ref: string }>
}
interface Operation {
  operationId: string
  security: object[]
  parameters?: { name: string; schema: { examples?: string[] } }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { headers?: object; content?: Record<string, Media> }>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { examples: Record<string, { value: object }> }
}
interface Target extends Operation {
  method: string
  path: string
}

const document = JSON.parse(JSON.stringify(await createDocument(app, 'http://localhost:3000'))) as Document
const operations: Target[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
)

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(document, 'document')

/** Checks that the document contains the status, the media type, the headers and the body of an answer. */
function expectDocumented({ operationId, responses }: Operation, { status, headers, body }: Answer) {
  const declared = responses[String(status)]
  const type = headers.get('content-type') ?? ''
  const media = declared?.content?.[type]
  expect(Object.keys(declared?.content ?? {}), `${operationId} ${status}`).toContain(type)
  for (const name of ['etag', 'link', 'retry-after', 'ratelimit', 'ratelimit-policy'])
    if (headers.has(name))
      expect(Object.keys(declared?.headers ?? {}).map((each) => each.toLowerCase())).toContain(name)
  const validate = ajv.compile(resolvable(media?.schema ?? false))
  expect(validate(body) ? [] : validate.errors, `${operationId} ${status} ${type}`).toEqual([])
}

/** Returns a schema with references that ajv can resolve. */
const resolvable = (schema: object | false) =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object

/** Signs in an administrator with a task, a note, an app and a second session. Returns the values to insert into the examples. */
async function createFixture() {
  const email = newEmail()
  const [cookie, other] = [await service.signIn(email), await service.signIn(email)]
  const client = service.client({ cookie })
  const { id: taskId } = await client.tasks.create({ taskTitle: 'Write' })
  const { id: noteId } = await client.notes.create({ title: 'Plan', body: '' })
  const { notes } = await client.legacyNotes.list()
  const author = await service.person()
  const { id: sharedId } = await author.notes.create({ title: 'Shared', body: '' })
  await author.notes.share({ id: sharedId, email, role: 'reader' })
  const { db } = service.services
  const [user] = await db.update(users).set({ role: 'admin' }).where(eq(users.email, email)).returning()
  const expiresAt = new Date(Date.now() + 60_000)
  const app = { userId: user?.id ?? '', clientId: 'app', scope: 'read', userAgent: 'App', expiresAt }
  const { id: grantId } = await grants.insert(db, app, OPERATOR)
  const values: Record<string, object> = {
    apps_revoke: { id: grantId },
    account_delete: { email },
    sessions_revoke: { revokeSessionToken: sessionTokenIn(other) },
  }
  const pathOf = ({ path, operationId }: Target) => {
    const id = path.startsWith('/api/tasks')
      ? taskId
      : operationId.startsWith('legacy')
        ? notes[0]?.id
        : operationId === 'notes_leave'
          ? sharedId
          : noteId
    return path.replace('{id}', String(id))
  }
  return { cookie, values, pathOf }
}

/** The examples of a request, each with its media type. A request without a body has one example. */
function requestsOf({ requestBody }: Operation): { type?: string; body?: object }[] {
  if (!requestBody) return [{}]
  return Object.entries(requestBody.content).flatMap(([type, { example, examples = {} }]) => [
    ...Object.keys(examples).map((name) => ({ type, body: document.components.examples[name]?.value ?? {} })),
    ...(example === undefined ? [] : [{ type, body: example as object }]),
  ])
}

const headersFor = (type?: string): Record<string, string> =>
  type === undefined ? {} : { 'content-type': type }

/** Operations that answer with a stream of events only. */
const isStream = ({ responses }: Operation) => !('application/json' in (responses['200']?.content ?? {}))

describe.each(operations.filter((operation) => !isStream(operation)))('$operationId', (operation) => {
  const { operationId, method, security, responses, parameters = [] } = operation
  const isPublic = security.length === 0

  test('accepts the examples of requests, and returns documented answers', async () => {
    for (const { type, body } of requestsOf(operation)) {
      const { cookie, values, pathOf } = await createFixture()
      const sent = body && { ...body, ...values[operationId] }

      const answer = await call(method, pathOf(operation), sent, { cookie, ...headersFor(type) })

      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      expectDocumented(operation, answer)
    }
  })

  test('returns each documented media type on request, and events to a Datastar page only if documented', async () => {
    const types = Object.keys(responses['200']?.content ?? {})
    expect(types).toContain('application/json')
    for (const accept of ['application/json', 'application/json;version=1', 'text/event-stream']) {
      const { cookie, values, pathOf } = await createFixture()
      const isFirstForm = types.includes(accept) && accept !== 'application/json'
      const { type, body } = requestsOf(operation).at(isFirstForm ? -1 : 0) ?? {}
      const sent = body && { ...body, ...values[operationId] }

      const answer = await call(method, pathOf(operation), sent, { cookie, accept, ...headersFor(type) })

      expectDocumented(operation, answer)
      expect(answer.headers.get('content-type')).toBe(types.includes(accept) ? accept : 'application/json')
    }
  })

  test('returns documented errors', async () => {
    const { cookie, pathOf } = await createFixture()
    const query = new URLSearchParams(
      Array.from({ length: 102 }, (_, index) => [`x${index}`, '1'] as [string, string]),
    )
    const body = { title: 1, x: 'y'.repeat(1024 * 1024) }
    const cases: Record<string, [path: string, body?: unknown, headers?: Record<string, string>]> = {
      400: [`${pathOf(operation)}?${query.toString()}`],
      ...(!isPublic && { 401: [operation.path.replace('{id}', '1'), undefined, { cookie: '' }] }),
      ...(operation.requestBody && {
        413: [pathOf(operation), body],
        415: [pathOf(operation), 'x', { 'content-type': 'text/plain' }],
      }),
      ...('404' in responses &&
        operation.path.includes('{id}') && { 404: [operation.path.replace('{id}', '987654321'), {}] }),
    }
    for (const [status, [path, body, headers]] of Object.entries(cases)) {
      const sent = method === 'GET' ? undefined : body

      for (const accept of ['application/json', 'application/problem+json']) {
        const answer = await call(method, path, sent, { cookie, accept, ...headers })

        expect(answer.status, path).toBe(Number(status))
        expect(answer.headers.get('content-type')).toBe(accept)
        expectDocumented(operation, answer)
      }
    }
  })

  test.runIf(parameters.some(({ name }) => name === 'cursor'))(
    'returns the first page for the example of a cursor',
    async () => {
      const { cookie, pathOf } = await createFixture()
      const cursor = parameters.find(({ name }) => name === 'cursor')?.schema.examples?.[0] ?? ''

      const first = await call(method, pathOf(operation), undefined, { cookie })
      const answer = await call(method, `${pathOf(operation)}?cursor=${cursor}`, undefined, { cookie })

      expect(answer).toMatchObject({ status: 200 })
      // The audit trail contains the first request.
      expect(listOf(answer.body)).toEqual(expect.arrayContaining(listOf(first.body)))
    },
  )
})

/** Returns the list in the body of an answer. */
const listOf = (body: unknown): unknown[] => Object.values(body as object).find(Array.isArray) ?? []

describe('the examples of server-sent events', () => {
  const withExample = operations.filter(
    ({ responses }) => responses['200']?.content?.['text/event-stream']?.example,
  )
  test.each(withExample)('of $operationId equal the answer, except for ids', async (operation) => {
    const { method, path, responses } = operation
    const cookie = await service.signIn(newEmail())
    await call('POST', '/api/counter/set', { inputValue: 7 })
    const { body: note } = await call(
      'POST',
      '/api/notes',
      { newNote: 'Milk and bread' },
      { cookie, accept: 'application/json;version=1' },
    )
    const { id } = note as { id: number }
    if (method === 'POST') await call('DELETE', `/api/notes/${id}`, undefined, { cookie })
    const body = method === 'POST' ? { newNote: 'Milk and bread' } : undefined

    const answer = await call(method, path.replace('{id}', String(id)), body, {
      cookie,
      accept: 'text/event-stream',
    })

    expect(String(answer.body).replace(/(?<=note-|note |notes\/)\d+/g, '7')).toBe(
      responses['200']?.content?.['text/event-stream']?.example,
    )
  })
})

describe('the stream live_watch', () => {
  const [stream] = operations.filter(isStream)

  test('sends events with documented data', async () => {
    const { cookie } = await createFixture()
    const media = stream?.responses['200']?.content?.['text/event-stream']
    const validate = ajv.compile(resolvable(media?.schema ?? false))
    const topics = ['counter', 'tasks', 'notes', 'sessions']

    const response = await fetch(`${service.origin}/api/live?topics=${topics.join()}&tasks[limit]=5`, {
      headers: { cookie },
    })

    const seen: unknown[] = []
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      for (const [, data = ''] of text.matchAll(/^data: (.*)$/gm)) {
        const update = JSON.parse(data) as { topic: string }
        expect(validate(update) ? [] : validate.errors, data).toEqual([])
        seen.push(update.topic)
      }
      if (seen.length === topics.length) break
    }
    expect(seen).toEqual(topics)
  })

  test.each([
    ['400', '/api/live?topics=x', {}],
    ['401', '/api/live?topics=tasks', {}],
  ])('returns the documented error %s', async (status, path, headers) => {
    const answer = await call('GET', path, undefined, headers)

    expect(answer.status).toBe(Number(status))
    expectDocumented(stream ?? ({} as Operation), answer)
  })
})

describe('a rate limit', () => {
  test('returns the documented status, headers and body', async () => {
    const limited = createFetch(await startService({ RATE_LIMITS: 'on', LIMITS: 'steps=1,reservations=1' }))
    for (const operationId of ['counter_increment', 'reservations_create']) {
      const operation = operations.find((each) => each.operationId === operationId)
      const { method = '', path = '' } = operation ?? {}
      const body = operation?.requestBody && {}
      await limited(method, path, body)

      const answer = await limited(method, path, body)

      expect(answer.status).toBe(429)
      if (operation) expectDocumented(operation, answer)
    }
  })
})
