import type { HTTPMethod, HTTPPath } from '@orpc/client'
import {
  type JSONSchema,
  type OpenAPI,
  OpenAPIGenerator,
  type OpenAPIGeneratorGenerateOptions,
} from '@orpc/openapi'
import { traverseContractProcedures } from '@orpc/server'
import { ZodToJsonSchemaConverter, type ZodToJsonSchemaConverterOptions } from '@orpc/zod/zod4'
import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

import { responseSchemas, type Meta, metaOf, requestSchemas } from '../../contract/base.ts'
import { ErrorBody } from '../../contract/errors.ts'
import { contract } from '../../contract/index.ts'
import { firstFormMediaType } from '../../contract/legacy-notes.ts'
import { resourcesOf } from '../../contract/scopes.ts'
import { addHeaders } from './openapi-headers.ts'

type Schemas = Record<string, object>
type Interceptor = NonNullable<ZodToJsonSchemaConverterOptions['interceptors']>[number]

const JSON_TYPE = 'application/json'

const info: OpenAPI.InfoObject = {
  title: 'Tallystick',
  version: '1.0.0',
  description: [
    'A shared counter, tasks, notes and sessions.',
    'To sign in, request a code with `POST /api/auth/email-otp/send-verification-otp {"email", "type": "sign-in"}`',
    'and send it with `POST /api/auth/sign-in/email-otp {"email", "otp"}`, which sets the session cookie.',
  ].join(' '),
}

/**
 * Creates the OpenAPI document of the contract. If the two forms of notes (src/http/note-forms.ts) share a path, the
 * document contains both forms, with different media types.
 */
export async function createDocument(): Promise<OpenAPI.Document> {
  const named: Schemas = { UndefinedError: undefinedError() }
  const [document, first] = [await generate(2, named), await generate(1, named)]
  const schemas: Schemas = { ...document.components?.schemas, ...named }
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
    const { form } = metaOf(procedure)
    const operation = getOperation(form === 1 ? first : document, procedure)
    completeOperation(operation, procedure, path, schemas)
    if (form === 1) addForm(getOperation(document, procedure), operation)
  })
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  const session = {
    type: 'apiKey',
    in: 'cookie',
    name: 'better-auth.session_token',
    description: 'With HTTPS, the name of the cookie is __Host-better-auth.session_token.',
  } as const
  const authorizationCode = {
    authorizationUrl: '/authorize',
    tokenUrl: '/token',
    scopes: {
      read: `Read your ${resourcesOf('read')}`,
      write: `Create, change, share and delete your ${resourcesOf('write')}`,
    },
  }
  const token = { type: 'oauth2', flows: { authorizationCode } } as const
  return { ...document, components: { schemas: sorted, securitySchemes: { session, token } } }
}

/** The parts of a procedure that this module reads. The generator of oRPC reads the other parts. */
interface DocumentedProcedure {
  '~orpc': { meta: Meta; route: { path?: HTTPPath; method?: HTTPMethod }; inputSchema?: unknown }
}

/** Converts a schema to its published JSON Schema. */
const publishSchema: Interceptor = ({ schema, options, next }) => {
  // For strings and numbers, uses Zod's own conversion, because oRPC's converter omits patterns and ranges.
  const leaf = ['string', 'number'].includes(schema._zod.def.type)
  if (leaf) return [true, withoutDialect(z.toJSONSchema(schema, { io: options.strategy }))]
  // A schema with custom validation code declares its JSON type in `meta`.
  const { type, id: _, ...metadata } = z.globalRegistry.get(schema) ?? {}
  if (type === 'integer') return [true, { type, ...metadata }]
  const [required, json] = next()
  const closed = options.strategy === 'output' && json.type === 'object' && json.properties
  return [required, { ...json, ...(closed && { additionalProperties: false }) }]
}

const withoutDialect = (json: object) => {
  const { $schema: _, ...schema } = json as Exclude<JSONSchema, boolean>
  return schema
}

export const schemaConverter = new ZodToJsonSchemaConverter({ interceptors: [publishSchema] })

const generator = new OpenAPIGenerator({ schemaConverters: [schemaConverter] })

const components = (registry: typeof responseSchemas, strategy: 'input' | 'output') =>
  [...registry._idmap].map(([name, schema]) => [name, { schema, strategy }] as const)

/**
 * Generates the document for one form of notes (src/http/note-forms.ts). Adds the schemas of the declared errors to
 * `named`.
 */
function generate(form: 1 | 2, named: Schemas) {
  const options: OpenAPIGeneratorGenerateOptions = {
    info,
    servers: [{ url: '/' }],
    filter: ({ contract }) => (metaOf(contract).form ?? 2) === form,
    commonSchemas: Object.fromEntries([
      ...components(responseSchemas, 'output'),
      ...components(requestSchemas, 'input'),
    ]),
    customErrorResponseBodySchema: (definitions, status) => ({
      anyOf: [
        ...definitions.map(([code, message, dataRequired, data]) => {
          const name = code.toLowerCase().replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())
          named[name] = namedError(code, status, message, dataRequired && data)
          return reference(name)
        }),
        reference('UndefinedError'),
      ],
    }),
  }
  return generator.generate(contract, options)
}

const toPlainJson = (schema: unknown): unknown => JSON.parse(JSON.stringify(schema ?? null))

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const namedError = (code: string, status: number, message: string, data: unknown) => ({
  type: 'object',
  properties: {
    defined: { const: true },
    code: { const: code },
    status: { const: status },
    message: { type: 'string', examples: [message] },
    ...(data ? { data } : {}),
    error: { type: 'string', examples: [message], description: 'The same text as message' },
  },
  required: ['defined', 'code', 'status', 'message', ...(data ? ['data'] : []), 'error'],
  additionalProperties: false,
})

const undefinedError = () => {
  const schema = withoutDialect(z.toJSONSchema(ErrorBody, { io: 'output' }))
  return { ...schema, properties: { ...schema.properties, defined: { const: false } } }
}

function getOperation(document: OpenAPI.Document, procedure: DocumentedProcedure): OpenAPI.OperationObject {
  const { path = '', method = 'POST' } = procedure['~orpc'].route
  const item: Record<string, unknown> = document.paths?.[path] ?? {}
  return item[method.toLowerCase()] as OpenAPI.OperationObject
}

/** Adds the parts that the generator omits: security requirements, headers, and all possible responses. */
function completeOperation(
  operation: OpenAPI.OperationObject,
  procedure: DocumentedProcedure,
  path: readonly string[],
  schemas: Schemas,
) {
  const { inputSchema, route, meta } = procedure['~orpc']
  operation.operationId = path.join('_')
  operation.tags = [path[0] ?? '']
  const { access, scope } = meta
  operation.security = access === 'public' ? [] : [{ session: [] }, ...(scope ? [{ token: [scope] }] : [])]

  const body =
    operation.requestBody && 'content' in operation.requestBody
      ? operation.requestBody.content[JSON_TYPE]
      : undefined
  const component = Object.keys(schemas).find((name) =>
    isDeepStrictEqual(toPlainJson(schemas[name]), toPlainJson(body?.schema)),
  )
  if (body && component) body.schema = reference(component)

  addHeaders(operation, meta, route.method)

  const anyError = {
    description: 'Any other error',
    content: { [JSON_TYPE]: { schema: reference('UndefinedError') } },
  }
  const statuses = [...(inputSchema ? [400] : []), ...(body ? [413, 415] : [])]
  const responses: OpenAPI.ResponsesObject = {
    ...Object.fromEntries(statuses.map((status) => [status, anyError])),
    ...operation.responses,
  }
  const isPaginated = operation.parameters?.some(
    (parameter) => 'name' in parameter && parameter.name === 'cursor',
  )
  for (const [status, response] of Object.entries(responses)) {
    const headers = isPaginated && status === '200' && { headers: { Link: link } }
    responses[status] = { ...response, description: STATUS_CODES[status] ?? '', ...headers }
  }
  operation.responses = { ...responses, default: anyError }
}

const link: OpenAPI.HeaderObject = {
  description: 'URL of the next page, if there is one: `<…?limit=…&cursor=…>; rel="next"` (RFC 8288).',
  schema: { type: 'string' },
}

/**
 * Adds the schemas of `first` (the first form of an operation) to `operation` (the second form), under the media type
 * of the first form.
 */
function addForm(operation: OpenAPI.OperationObject, first: OpenAPI.OperationObject) {
  operation.description = `The first form (\`${first.operationId}\`) is returned for \`Accept: ${firstFormMediaType}\`.`
  const pairs = [
    [operation.responses?.['200'], first.responses?.['200']],
    [operation.requestBody, first.requestBody],
  ]
  for (const [target, source] of pairs)
    if (target && 'content' in target && source && 'content' in source)
      Object.assign(target.content ?? {}, { [firstFormMediaType]: source.content?.[JSON_TYPE] })
}
