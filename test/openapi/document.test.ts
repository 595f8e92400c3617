import { createConfig, lintFromString } from '@redocly/openapi-core'
import { traverseContractProcedures } from '@orpc/server'
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'

import { metaOf } from '../../engine/contract/meta.ts'
import { listNamedSchemas } from '../../engine/openapi/named-schemas.ts'
import { ErrorBody } from '../../engine/contract/errors.ts'
import { contract } from '../../contract/index.ts'
import { app } from '../../src/app.ts'
import { createDocument } from '../../engine/openapi/document.ts'
import { createFetch } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

interface Media {
  schema: object
  example?: unknown
  examples?: object
}
interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: object[]
  parameters?: { name: string; in: string; schema: object }[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, { headers?: object; content?: Record<string, Media> }>
}
interface Document {
  openapi: string
  info: { contact: { url: string } }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    examples: Record<string, { value: unknown }>
    schemas: Record<string, { properties: Record<string, object>; additionalProperties?: boolean }>
  }
}

const service = await startService()
const call = createFetch(service)
let document: Document

beforeAll(async () => {
  document = (await call('GET', '/api/openapi.json')).body as Document
})

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

describe('the OpenAPI document', () => {
  test('equals the reviewed copy (npm run openapi updates the copy)', async () => {
    const copy: unknown = JSON.parse(await readFile('docs/openapi.json', 'utf8'))

    expect(document).toEqual(copy)
  })

  const lint = async (source: object) => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({ source: JSON.stringify(source), config })
    return problems.map(({ severity, ruleId, message }) => `${severity} ${ruleId}: ${message}`)
  }

  test('names the absolute URLs of OAuth, and the session cookie of the origin', async () => {
    const schemesOf = async (baseUrl: string) =>
      (await createDocument(app, baseUrl)).components?.securitySchemes

    expect(await schemesOf('https://a.example')).toMatchObject({
      session: { name: '__Host-better-auth.session_token' },
      token: {
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://a.example/authorize',
            tokenUrl: 'https://a.example/token',
            refreshUrl: 'https://a.example/token',
          },
        },
      },
    })
    expect(await schemesOf('http://localhost:3000')).toMatchObject({
      session: { name: 'better-auth.session_token' },
    })
  })

  test('has no errors and no warnings under the recommended rules of Redocly', async () => {
    expect(await lint(document)).toEqual([])
  })

  test('has errors and warnings under the same rules after deliberate mistakes', async () => {
    const examples = { ...document.components.examples, Counter: { value: { count: 'seven' } } }
    const broken = {
      ...document,
      paths: { ...document.paths, '/x': { get: { responses: {} } } },
      components: { ...document.components, examples },
    }

    const problems = await lint(broken)

    expect(problems).toContainEqual(expect.stringMatching(/^error operation-summary/))
    expect(problems).toContainEqual(expect.stringMatching(/^warn no-invalid-media-type-examples/))
  })

  test('describes each tag, names a contact, and has times without a pattern', () => {
    const described = document.tags.filter(({ description }) => description !== '').map(({ name }) => name)

    for (const { tags } of operations()) expect(described).toEqual(expect.arrayContaining(tags))
    expect(document.info.contact.url).toBe(service.services.settings.baseUrl)
    const times = [...JSON.stringify(document).matchAll(/\{[^{}]*"format":"date-time"[^{}]*\}/g)]
    expect(times.length).toBeGreaterThan(2)
    expect(times.filter(([schema]) => schema.includes('pattern'))).toEqual([])
  })

  const operations = () => Object.values(document.paths).flatMap((item) => Object.values(item))

  test('has an example for each body of each request and response', () => {
    const missing = operations().flatMap(({ operationId, requestBody, responses }) =>
      [...Object.entries(responses), ['request', requestBody] as const].flatMap(([part, body]) =>
        Object.entries(body?.content ?? {}).flatMap(([type, { example, examples = {} }]) =>
          example !== undefined || Object.keys(examples).length > 0 ? [] : [`${operationId} ${part} ${type}`],
        ),
      ),
    )

    expect(missing).toEqual([])
  })

  test('has complete and valid examples for the schemas of the contract', () => {
    const named = new Map(listNamedSchemas(app.contract).map(({ name, schema }) => [name, schema]))
    const { Problem: _, ...examples } = document.components.examples
    for (const [name, { value }] of Object.entries(examples)) {
      const schema = named.get(name) ?? ErrorBody

      expect(z.safeParse(schema, value), name).toEqual({ success: true, data: value })
    }
  })

  test('allows no empty query parameters, because the service refuses them', async () => {
    expect(JSON.stringify(document)).not.toMatch(/allowEmptyValue|allowReserved/)
    const cookie = await service.signIn(newEmail())
    for (const name of ['status', 'limit', 'cursor'])
      expect(await call('GET', `/api/tasks?${name}=`, undefined, { cookie })).toMatchObject({ status: 400 })
  })

  test('contains every procedure at its path, with its name, a summary, its access and an error', () => {
    traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
      const { alternative, access, watches, scope, rateLimit } = metaOf(procedure)
      const { method = '', path: url = '' } = procedure['~orpc'].route
      const operation = document.paths[url]?.[method.toLowerCase()]
      if (alternative) {
        expect(operation?.responses['200']?.content).toHaveProperty(['application/json;version=1'])
        return
      }
      expect(operation?.operationId).toBe(path.join('_'))
      expect(operation?.summary).toMatch(/./)
      expect(operation?.description).toMatch(/./)
      // An operation with topics needs no credentials for some of them.
      const anonymous = watches ? [{}] : []
      expect(operation?.security).toEqual(
        access === 'public' ? [] : [...anonymous, { session: [] }, ...(scope ? [{ token: [scope] }] : [])],
      )
      expect(operation?.responses).toHaveProperty('default')
      if (access !== 'public') expect(operation?.responses).toHaveProperty('401')
      expect(operation?.responses).toHaveProperty('400')
      if (rateLimit) expect(operation?.responses).toHaveProperty('429.headers.Retry-After')
    })
  })

  test('contains both forms of notes under one path', () => {
    const create = document.paths['/api/notes']?.post

    expect(create?.requestBody?.content).toMatchObject({
      'application/json': { schema: { anyOf: [ref('NoteInput'), ref('AddNote')] } },
      'application/json;version=1': { schema: ref('AddNote') },
    })
    expect(create?.responses['200']?.content).toMatchObject({
      'application/json': { schema: ref('NoteView') },
      'application/json;version=1': { schema: ref('Note') },
      'text/event-stream': { schema: { type: 'string' } },
    })
  })

  test('uses the names of schemas and errors in the interface documents', () => {
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        ...[
          'Account',
          'AddNote',
          'Counter',
          'CounterFragment',
          'CreateTask',
          'DeleteResult',
          'Note',
          'NoteInput',
        ],
        ...['NoteList', 'NoteView', 'NotesList', 'NotesReset', 'ReservationInput', 'ReservationResult'],
        ...[
          'RevokeSession',
          'SessionInfo',
          'SessionList',
          'SetCount',
          'ShareInput',
          'Status',
          'Success',
          'Task',
        ],
        ...['TaskList', 'TasksReset', 'UpdateTask'],
        ...['Unauthorized', 'Forbidden', 'NotFound', 'InvalidReservation', 'UndefinedError'],
      ]),
    )
  })

  test('contains the limits and the e-mail pattern', () => {
    const { NoteInput, NoteView, ShareInput, ReservationInput, CreateTask } = document.components.schemas

    expect(NoteInput?.properties).toMatchObject({
      title: { minLength: 1, maxLength: 120 },
      body: { maxLength: 4000 },
    })
    expect(NoteView?.properties.sharedWith).toEqual({
      type: 'integer',
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
    })
    expect(ShareInput?.properties.email).toMatchObject({
      format: 'email',
      maxLength: 254,
      pattern:
        "^(?:[A-Za-z0-9_'+\\-]+\\.)*[A-Za-z0-9_'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    })
    expect(ReservationInput?.properties.guests).toMatchObject({ minimum: 1, maximum: 20, multipleOf: 1 })
    expect(CreateTask?.properties.taskTitle).toMatchObject({ minLength: 1 })
  })

  test('forbids additional properties in responses and allows them in requests', () => {
    const { NoteView, NoteInput } = document.components.schemas

    expect(NoteView?.additionalProperties).toBe(false)
    expect(NoteInput?.additionalProperties).toBeUndefined()
  })

  test('references the named schema for each body that has one', () => {
    const bodies = ['/api/notes/{id}', '/api/notes/{id}/share'].map(
      (path) => document.paths[path]?.post?.requestBody?.content['application/json']?.schema,
    )

    expect(bodies).toEqual([ref('NoteInput'), ref('ShareInput')])
    expect(document.paths['/api/tasks/{id}']?.patch?.requestBody).toMatchObject({
      required: false,
      content: { 'application/json': { schema: ref('UpdateTask') } },
    })
    expect(document.paths['/api/tasks/{id}']?.get?.parameters?.[0]).toMatchObject({
      name: 'id',
      in: 'path',
      required: true,
      schema: { type: 'integer', minimum: 0 },
    })
  })

  test('describes the headers for safe retries and changes, and their errors', () => {
    const of = (path: string, method: string) => {
      const { parameters = [], responses = {} } = document.paths[path]?.[method] ?? {}
      const names = parameters.filter((each) => each.in === 'header').map(({ name }) => name)
      const described = Object.keys(responses).filter((status) => /304|409|412|422/.test(status))
      const answered = Object.keys(responses['200']?.headers ?? {})
      return [...names, ...described, ...answered].join(' ')
    }

    expect(of('/api/tasks', 'get')).toBe('Link')
    expect(of('/api/tasks', 'post')).toBe('Idempotency-Key 409 422 ETag')
    expect(of('/api/tasks/{id}', 'get')).toBe('If-None-Match 304 ETag')
    expect(of('/api/tasks/{id}', 'patch')).toBe('If-Match 412 ETag')
    expect(of('/api/tasks/{id}', 'delete')).toBe('If-Match 412')
    expect(of('/api/notes', 'post')).toBe('Idempotency-Key 409 422 ETag')
    expect(of('/api/notes/{id}', 'post')).toBe('If-Match 412 ETag')
    expect(of('/api/notes/{id}/share', 'post')).toBe('If-Match 412 ETag')
    expect(of('/api/notes/{id}/shares', 'get')).toBe('Link')
    expect(of('/api/notes/{id}/unshare', 'post')).toBe('If-Match 412 ETag')
    expect(of('/api/notes/{id}/delete', 'post')).toBe('If-Match 412')
  })

  test.each(['/api/tasks', '/api/notes', '/api/notes/{id}/shares', '/api/sessions'])(
    'describes the pagination of %s',
    (path) => {
      const { parameters, responses } = document.paths[path]?.get ?? {}

      expect(parameters).toContainEqual(
        expect.objectContaining({
          name: 'limit',
          in: 'query',
          schema: expect.objectContaining({ type: 'integer', minimum: 1, maximum: 1000, default: 1000 }),
        }),
      )
      expect(parameters).toContainEqual(
        expect.objectContaining({ name: 'cursor', schema: expect.objectContaining({ type: 'string' }) }),
      )
      expect(responses?.['200']).toHaveProperty('headers.Link')
      expect(document.paths['/api/me']?.get?.responses['200']).not.toHaveProperty('headers')
    },
  )

  test('contains no schema that rejects every value', () => {
    expect(JSON.stringify(document)).not.toContain('"not":{}')
  })
})
