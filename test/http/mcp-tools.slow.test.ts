import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { app } from '../../src/app.ts'
import { type JsonSchema, toToolInput, toToolOutput } from '../../engine/http/protocols/tool-schema.ts'
import { createDocument } from '../../engine/openapi/document.ts'
import { createMcpCalls, type Result, rpc } from '../../engine/test/fixtures/mcp-agent.ts'
import { declaredTools, toolNames } from '../fixtures/mcp-tools.ts'
import { newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'

const service = await startService(await settingsWithAddress())
const { authorizeAgent, post, clients } = createMcpCalls(service)

interface Schema {
  $ref?: string
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
}
interface Operation {
  operationId: string
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content: Record<string, { schema: Schema }> }>
}

/**
 * Returns the input and the output of each operation in the OpenAPI document. The input combines the parameters of the
 * path, the query and the body.
 */
async function listOperations() {
  const document: unknown = JSON.parse(JSON.stringify(await createDocument(app, 'http://localhost:3000')))
  const { paths, components } = document as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, Schema> }
  }
  const resolve = (json: unknown): unknown => {
    if (Array.isArray(json)) return json.map(resolve)
    if (typeof json !== 'object' || json === null) return json
    if ('$ref' in json) return resolve(components.schemas[String(json.$ref).split('/').at(-1) ?? ''])
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, resolve(value)]))
  }
  return Object.fromEntries(
    Object.values(paths)
      .flatMap((item) => Object.values(item))
      .map(({ operationId, parameters = [], requestBody, responses }) => {
        const declared = requestBody?.content['application/json']?.schema
        // `POST /api/notes` accepts both forms of notes. The tool uses the second form, which is the first alternative.
        const body = resolve(declared?.anyOf?.[0] ?? declared ?? {}) as Schema
        const inputs = parameters.filter((parameter) => parameter.in !== 'header')
        const properties = {
          ...body.properties,
          ...Object.fromEntries(inputs.map(({ name, schema }) => [name, resolve(schema)])),
        }
        const required = [
          ...(body.required ?? []),
          ...inputs.filter((parameter) => parameter.required).map(({ name }) => name),
        ].sort()
        const output = resolve(responses['200']?.content['application/json']?.schema)
        return [operationId, { properties, required, output }]
      }),
  )
}

/** Checks that a call failed, and returns the error that its text contains. */
const errorOf = (name: string) => (result: Result) => {
  const [{ text } = { text: '' }] = result.content as { text: string }[]
  expect(result, name).toMatchObject({ isError: true })
  expect(result.structuredContent).toBeUndefined()
  return JSON.parse(text) as unknown
}

describe.each(Object.entries(clients))('%s', (_, connect) => {
  test('lists the tools of the contract in its order', async () => {
    const { credentials } = await authorizeAgent()
    const { tools } = await connect(credentials)

    expect(tools.map(({ name }) => name)).toEqual(toolNames)
    expect(declaredTools.map(({ name }) => name)).toEqual(toolNames)
    for (const { name, title, description, annotations } of tools) {
      expect(title, name).toBeTruthy()
      expect(description, name).toBeTruthy()
      expect(annotations, name).toEqual({
        title,
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: false,
      })
    }
    const namesWith = (hint: 'readOnlyHint' | 'destructiveHint') =>
      tools.filter(({ annotations }) => annotations?.[hint]).map(({ name }) => name)
    expect(namesWith('readOnlyHint')).toEqual([
      ...['counter_get', 'tasks_list', 'tasks_get', 'notes_list', 'notes_shares', 'reservations_create'],
    ])
    expect(namesWith('destructiveHint')).toEqual([
      ...['counter_set', 'counter_reset', 'tasks_update', 'tasks_delete', 'tasks_reset'],
      ...['notes_update', 'notes_share', 'notes_unshare', 'notes_leave', 'notes_delete'],
    ])
  })

  test('gets the schemas of the OpenAPI document, in the subset of JSON Schema for tools', async () => {
    const { credentials } = await authorizeAgent()
    const { tools } = await connect(credentials)
    const operations = await listOperations()

    for (const { name, inputSchema, outputSchema } of tools) {
      const { properties, required, output } = operations[name] ?? {}
      expect(inputSchema.type, name).toBe('object')
      expect(inputSchema.properties, name).toEqual(toToolInput({ type: 'object', properties }).properties)
      expect([...(inputSchema.required ?? [])].sort(), name).toEqual(required)
      expect(outputSchema, name).toEqual(toToolOutput(output as JsonSchema))
    }
  })

  test('calls every tool', async () => {
    const email = newEmail()
    const { credentials } = await authorizeAgent({ email })
    const agent = await connect(credentials)
    const called = new Set<string>()
    const use = async (name: string, input?: Record<string, unknown>) => {
      called.add(name)
      const { content, structuredContent, isError } = await agent.call(name, input)
      expect(isError, name).toBeFalsy()
      expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }])
      return structuredContent as Record<string, unknown>
    }

    expect(await use('counter_set', { inputValue: 41 })).toEqual({ count: 41 })
    expect(await use('counter_increment')).toEqual({ count: 42 })
    expect(await use('counter_decrement', {})).toEqual({ count: 41 })
    expect(await use('counter_get')).toEqual({ count: 41 })
    expect(await use('counter_reset')).toEqual({ count: 0 })

    const { id } = await use('tasks_create', { taskTitle: 'One' })
    await use('tasks_create', { taskTitle: 'Two', taskDesc: 'More' })
    expect(await use('tasks_get', { id })).toMatchObject({ title: 'One', description: null })
    expect(await use('tasks_update', { id, status: 'completed' })).toMatchObject({ status: 'completed' })
    expect(await use('tasks_list')).toMatchObject({ taskCount: 2 })
    expect(await use('tasks_list', { status: 'completed' })).toMatchObject({ taskCount: 1 })
    expect(await use('tasks_delete', { id })).toEqual({ success: true })
    expect(await use('tasks_reset')).toEqual({ taskCount: 0 })

    const note = await use('notes_create', { title: 'Plan', body: '' })
    await use('notes_update', { id: note.id, title: 'Plan B', body: 'Text' })
    const share = { email: newEmail(), role: 'reader' }
    expect(await use('notes_share', { id: note.id, ...share })).toMatchObject({ sharedWith: 1 })
    expect(await use('notes_shares', { id: note.id })).toMatchObject({ shares: [share] })
    expect(await use('notes_unshare', { id: note.id, email: share.email })).toMatchObject({ sharedWith: 0 })
    expect(await use('notes_list')).toMatchObject({ notes: [{ title: 'Plan B', mine: true }] })
    const author = await service.person()
    const { id: sharedId } = await author.notes.create({ title: 'Of another person', body: '' })
    await author.notes.share({ id: sharedId, email, role: 'reader' })
    expect(await use('notes_leave', { id: sharedId })).toEqual({ id: sharedId })
    expect(await use('notes_delete', { id: note.id })).toEqual({ id: note.id })

    await use('reservations_create', { name: 'Ada', guests: 2 })
    expect([...called].sort()).toEqual([...toolNames].sort())
  })

  test('reads a list page by page', async () => {
    const { credentials } = await authorizeAgent()
    const { call } = await connect(credentials)
    for (const taskTitle of ['One', 'Two', 'Three']) await call('tasks_create', { taskTitle })

    const first = await call('tasks_list', { limit: 2 })
    const [page, cursor] = first.content as { text: string }[]
    const next = JSON.parse(cursor?.text ?? '{}') as { nextCursor: string }
    const last = await call('tasks_list', { limit: 2, cursor: next.nextCursor })

    expect(first.structuredContent).toMatchObject({
      tasks: [{ title: 'Three' }, { title: 'Two' }],
      taskCount: 3,
    })
    expect(JSON.parse(page?.text ?? '')).toEqual(first.structuredContent)
    expect(last.structuredContent).toMatchObject({ tasks: [{ title: 'One' }], taskCount: 3 })
    expect(last.content).toHaveLength(1)
  })

  test('acts only for the user who authorized it', async () => {
    const email = newEmail()
    const [ada, bob] = [await authorizeAgent({ email }), await authorizeAgent()]
    const { structuredContent } = await (
      await connect(ada.credentials)
    ).call('tasks_create', { taskTitle: 'Of Ada' })
    const { id } = structuredContent as { id: number }

    const rejected = await (await connect(bob.credentials)).call('tasks_get', { id })

    expect(errorOf('tasks_get')(rejected)).toEqual({ code: 'NOT_FOUND', message: 'Task not found' })
    expect(await (await service.person(email)).tasks.get({ id })).toMatchObject({ title: 'Of Ada' })
  })

  test('receives the validation errors of its input', async () => {
    const { credentials } = await authorizeAgent()
    const agent = await connect(credentials)

    expect(errorOf('empty')(await agent.call('tasks_create', { taskTitle: '' }))).toEqual({
      code: 'BAD_REQUEST',
      message: 'Input validation failed',
      data: { issues: [{ path: 'taskTitle', message: 'Must have at least 1 character' }] },
    })
    expect(errorOf('missing')(await agent.call('tasks_get'))).toMatchObject({ code: 'BAD_REQUEST' })
    expect(errorOf('rule')(await agent.call('reservations_create', { name: 'Ada', guests: 99 }))).toEqual({
      code: 'INVALID_RESERVATION',
      message: expect.any(String),
      data: { guests: expect.any(String) },
    })
  })

  test('gets no detail of an internal error, which the log contains', async () => {
    const { credentials } = await authorizeAgent()
    const agent = await connect(credentials)
    const error = vi.spyOn(service.services.log, 'error').mockImplementation(() => undefined)
    onTestFinished(() => {
      error.mockRestore()
    })
    const { db } = service.services
    const remove = vi.spyOn(db, 'delete').mockImplementation(() => {
      throw new Error('secret')
    })

    const result = await agent.call('tasks_reset', {}).finally(() => {
      remove.mockRestore()
    })

    expect(errorOf('tasks_reset')(result)).toEqual({
      code: 'INTERNAL_SERVER_ERROR',
      message: 'Internal Server Error',
    })
    expect(error).toHaveBeenCalledWith(
      expect.objectContaining({ procedure: 'tasks.reset' }),
      expect.anything(),
    )
  })

  test('gets an error for an unknown tool', async () => {
    const { credentials } = await authorizeAgent()
    const agent = await connect(credentials)

    await expect(agent.call('sessions_list')).rejects.toMatchObject({ code: -32602 })
  })

  test('is rejected from the first call after the revocation of its grant', async () => {
    const { credentials, revoke } = await authorizeAgent()
    const agent = await connect(credentials)
    await agent.call('tasks_list')

    await revoke()

    await expect(agent.call('tasks_list')).rejects.toThrow()
    expect((await post(credentials, rpc('tools/list'))).status).toBe(401)
  })

  test('cannot write with a token for reading', async () => {
    const { credentials } = await authorizeAgent({ scope: 'read' })
    const agent = await connect(credentials)

    expect(await agent.call('tasks_list')).toMatchObject({ structuredContent: { taskCount: 0 } })
    await expect(agent.call('tasks_create', { taskTitle: 'One' })).rejects.toThrow()
    expect(await agent.call('tasks_list')).toMatchObject({ structuredContent: { taskCount: 0 } })
  })
})
