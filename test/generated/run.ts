import type { AnySchema } from '@orpc/contract'
import { traverseContractProcedures } from '@orpc/server'
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'

import { createRestClient } from '../../contract/client.ts'
import { contract } from '../../contract/index.ts'
import { sessionTokenIn } from '../../engine/test/fixtures/http.ts'
import { registerApp } from '../../engine/test/fixtures/oauth-app.ts'
import { type Service, signIn, startService } from '../trials/service-process.ts'
import { generateClients, generators } from './generators.ts'
import type { Outcome, Values } from './operations.ts'

type AnyCalls = Record<string, (values: Values) => Promise<Outcome<unknown>>>
type Connect = (origin: string, cookie: string) => AnyCalls

const Document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        security: z.array(z.unknown()),
        responses: z.record(z.string(), z.object({ content: z.record(z.string(), z.unknown()).optional() })),
      }),
    ),
  ),
})
const Packages = z.object({ dependencies: z.record(z.string(), z.string()) })

/** The errors of operations without sign-in. All other operations return UNAUTHORIZED without a session. */
const publicErrors: Record<string, string> = {
  counter_increment: 'CONFLICT',
  counter_decrement: 'CONFLICT',
  counter_set: 'BAD_REQUEST',
  reservations_create: 'INVALID_RESERVATION',
}

const schemas = new Map<string, AnySchema | undefined>()
traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
  schemas.set(path.join('_'), (procedure['~orpc'] as { outputSchema?: AnySchema }).outputSchema)
})

const { dependencies } = Packages.parse(JSON.parse(await readFile('test/generated/package.json', 'utf8')))
const service = await startService({
  ADMIN_EMAILS: generators.map(({ client }) => emailOf(client)).join(','),
})
const text = await (await fetch(`${service.origin}/api/openapi.json`)).text()
const operations = Object.values(Document.parse(JSON.parse(text)).paths)
  .flatMap((item) => Object.values(item))
  // No generated client reads event streams.
  .filter(({ responses }) => responses['200']?.content?.['application/json'])
await generateClients(service.origin, text)
const rows = []
for (const { client, packages } of generators) {
  const { connect } = (await import(`./clients/${client}.ts`)) as { connect: Connect }
  const generator = packages.map((name) => `${name} ${dependencies[name] ?? ''}`).join(', ')
  rows.push({ generator, ...(await callOperations(client, connect)) })
}
console.table(rows)
await service.kill('SIGTERM')

/** Calls every operation of the document, and returns the numbers of successful and refused calls. */
async function callOperations(client: string, connect: Connect) {
  const names = Object.keys(connect(service.origin, ''))
  const documented = operations.map(({ operationId }) => operationId)
  // A client that distinguishes the media types has two more calls, for the first form of notes.
  const firstForm = names.filter((name) => !documented.includes(name))
  assert.deepEqual(names.filter((name) => documented.includes(name)).sort(), documented.sort(), client)
  const email = emailOf(client)
  const { cookie, values } = await createValues(service, email)

  let errors = 0
  for (const name of [...names].sort(
    (a, b) => Number(a === 'account_delete') - Number(b === 'account_delete'),
  )) {
    const operation = operations.find(({ operationId }) => operationId === name)
    const isPublic = operation?.security.length === 0
    const expected = isPublic ? publicErrors[name] : 'UNAUTHORIZED'
    if (expected === undefined) assertNoDeclaredError(operation?.responses ?? {}, name)
    else {
      await expectError(connect(service.origin, '')[name], await values(), expected, `${client} ${name}`)
      errors++
    }
    await expectSuccess(connect(service.origin, cookie)[name], await values(), name, client)
  }
  return { operations: documented.length, errors, forms: firstForm.length > 0 ? 'both' : 'second' }
}

/** The e-mail address of the administrator account for a client. */
function emailOf(client: string) {
  return `${client}@example.com`
}

/** Signs in twice, and grants access to an app. Returns the cookie, and a function that creates a task and a note for the next call. */
async function createValues(service: Service, email: string) {
  const { origin, dataDir } = service
  const cookie = await signIn(origin, email, dataDir)
  const token = sessionTokenIn(await signIn(origin, email, dataDir))
  const client = createRestClient(origin, { headers: { cookie } })
  await (await registerApp(service)).obtainTokens(cookie)
  const grantId = (await client.apps.list()).apps[0]?.id ?? ''
  const author = createRestClient(origin, {
    headers: { cookie: await signIn(origin, `author-of-${email}`, dataDir) },
  })
  const { id: sharedId } = await author.notes.create({ title: 'Shared', body: '' })
  await author.notes.share({ id: sharedId, email, role: 'reader' })
  const values = async (): Promise<Values> => {
    const { id: taskId } = await client.tasks.create({ taskTitle: 'Write' })
    const { id: noteId } = await client.notes.create({ title: 'Plan', body: '' })
    const { notes } = await client.legacyNotes.list({ limit: 1 })
    const noteNumber = notes[0]?.id ?? 0
    return { taskId, noteId, sharedId, noteNumber, token, grantId, email, inputValue: 7, guests: 2 }
  }
  return { cookie, values }
}

async function expectSuccess(
  call: AnyCalls[string] | undefined,
  values: Values,
  name: string,
  client: string,
) {
  await createRestClient(service.origin).counter.set({ inputValue: 7 })
  const outcome = await call?.(values)
  assert.equal(outcome?.status, 200, `${client} ${name}: ${JSON.stringify(outcome)}`)
  const result = await schemas.get(name)?.['~standard'].validate(outcome.data)
  assert.deepEqual(result, { value: outcome.data }, `${client} ${name}`)
}

async function expectError(call: AnyCalls[string] | undefined, values: Values, code: string, name: string) {
  const limit = name.endsWith('decrement') ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER
  await createRestClient(service.origin).counter.set({ inputValue: limit })
  const outcome = await call?.({ ...values, inputValue: 1.5, guests: 99 })
  assert.equal(outcome?.error?.code, code, `${name}: ${JSON.stringify(outcome)}`)
  if (code === 'INVALID_RESERVATION') assert.match(outcome.violation ?? '', /20/, name)
}

/** Checks that an operation declares no error that a generated client could provoke. */
function assertNoDeclaredError(responses: Record<string, unknown>, name: string) {
  const statuses = Object.keys(responses).filter(
    (status) => !['200', '400', '429', 'default'].includes(status),
  )
  assert.deepEqual(statuses, [], name)
}
