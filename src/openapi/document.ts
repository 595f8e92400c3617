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
import { addHeaders } from './openapi-headers.ts'

type Schemas = Record<string, object>
type Interceptor = NonNullable<ZodToJsonSchemaConverterOptions['interceptors']>[number]

const JSON_TYPE = 'application/json'

const info: OpenAPI.InfoObject = {
  title: 'Tallystick',
  version: '1.0.0',
  description: [
    'A shared counter, tasks, notes and sessions.',
    'To sign in, ask for a code with `POST /api/auth/email-otp/send-verification-otp {"email", "type": "sign-in"}`',
    'and answer it with `POST /api/auth/sign-in/email-otp {"email", "otp"}`, which sets the session cookie.',
  ].join(' '),
}

/** The OpenAPI document of the contract. Where both notes forms share a path, each stands under its media type. */
export async function createDocument(): Promise<OpenAPI.Document> {
  const named: Schemas = { UndefinedError: undefinedError() }
  const [document, first] = [await generate(2, named), await generate(1, named)]
  const schemas: Schemas = { ...document.components?.schemas, ...named }
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
    const { form } = metaOf(procedure)
    const operation = operationOf(form === 1 ? first : document, procedure)
    complete(operation, procedure, path, schemas)
    if (form === 1) addForm(operationOf(document, procedure), operation)
  })
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  const session = {
    type: 'apiKey',
    in: 'cookie',
    name: 'better-auth.session_token',
    description: 'Over https its name is __Host-better-auth.session_token.',
  } as const
  const authorizationCode = {
    authorizationUrl: '/authorize',
    tokenUrl: '/token',
    scopes: { read: 'See what is yours', write: 'Change it' },
  }
  const token = { type: 'oauth2', flows: { authorizationCode } } as const
  return { ...document, components: { schemas: sorted, securitySchemes: { session, token } } }
}

/** What the document says of a procedure beyond what the generator reads itself. */
interface Promised {
  '~orpc': { meta: Meta; route: { path?: HTTPPath; method?: HTTPMethod }; inputSchema?: unknown }
}

/** A schema as it is published. */
const published: Interceptor = ({ schema, options, next }) => {
  // Zod writes what it knows of text and numbers (patterns, ranges) better than the converter does.
  const leaf = ['string', 'number'].includes(schema._zod.def.type)
  if (leaf) return [true, bare(z.toJSONSchema(schema, { io: options.strategy }))]
  // What only code can tell apart says in `meta` what it is.
  const { type, id: _, ...said } = z.globalRegistry.get(schema) ?? {}
  if (type === 'integer') return [true, { type, ...said }]
  const [required, json] = next()
  const closed = options.strategy === 'output' && json.type === 'object' && json.properties
  return [required, { ...json, ...(closed && { additionalProperties: false }) }]
}

const bare = (json: object) => {
  const { $schema: _, ...schema } = json as Exclude<JSONSchema, boolean>
  return schema
}

export const schemaConverter = new ZodToJsonSchemaConverter({ interceptors: [published] })

const generator = new OpenAPIGenerator({ schemaConverters: [schemaConverter] })

const components = (registry: typeof responseSchemas, strategy: 'input' | 'output') =>
  [...registry._idmap].map(([name, schema]) => [name, { schema, strategy }] as const)

/** One form's part of the document. The named errors it meets are added to `named`. */
function generate(form: 1 | 2, named: Schemas) {
  const options: OpenAPIGeneratorGenerateOptions = {
    info,
    servers: [{ url: '/' }],
    filter: ({ contract }) => (metaOf(contract).form ?? 2) === form,
    commonSchemas: Object.fromEntries([...components(responseSchemas, 'output'), ...components(requestSchemas, 'input')]),
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

const plain = (schema: unknown): unknown => JSON.parse(JSON.stringify(schema ?? null))

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
  const schema = bare(z.toJSONSchema(ErrorBody, { io: 'output' }))
  return { ...schema, properties: { ...schema.properties, defined: { const: false } } }
}

function operationOf(document: OpenAPI.Document, procedure: Promised): OpenAPI.OperationObject {
  const { path = '', method = 'POST' } = procedure['~orpc'].route
  const item: Record<string, unknown> = document.paths?.[path] ?? {}
  return item[method.toLowerCase()] as OpenAPI.OperationObject
}

/** What the generator leaves out: who may call, and every answer that the operation can give. */
function complete(
  operation: OpenAPI.OperationObject,
  procedure: Promised,
  path: readonly string[],
  schemas: Schemas,
) {
  const { inputSchema, route, meta } = procedure['~orpc']
  operation.operationId = path.join('_')
  operation.tags = [path[0] ?? '']
  const { access, scope } = meta
  operation.security = access === 'open' ? [] : [{ session: [] }, ...(scope ? [{ token: [scope] }] : [])]

  const body =
    operation.requestBody && 'content' in operation.requestBody
      ? operation.requestBody.content[JSON_TYPE]
      : undefined
  const component = Object.keys(schemas).find((name) =>
    isDeepStrictEqual(plain(schemas[name]), plain(body?.schema)),
  )
  if (body && component) body.schema = reference(component)

  addHeaders(operation, meta, route.method)

  const refusal = {
    description: 'Any other refusal or failure',
    content: { [JSON_TYPE]: { schema: reference('UndefinedError') } },
  }
  const statuses = [...(inputSchema ? [400] : []), ...(body ? [413, 415] : [])]
  const responses: OpenAPI.ResponsesObject = {
    ...Object.fromEntries(statuses.map((status) => [status, refusal])),
    ...operation.responses,
  }
  const pages = operation.parameters?.some((parameter) => 'name' in parameter && parameter.name === 'cursor')
  for (const [status, response] of Object.entries(responses)) {
    const headers = pages && status === '200' && { headers: { Link: link } }
    responses[status] = { ...response, description: STATUS_CODES[status] ?? '', ...headers }
  }
  operation.responses = { ...responses, default: refusal }
}

const link: OpenAPI.HeaderObject = {
  description: 'Where the next page is, if there is one: `<…?limit=…&cursor=…>; rel="next"` (RFC 8288).',
  schema: { type: 'string' },
}

/** Puts the first form of an operation beside the second, under its own media type. */
function addForm(operation: OpenAPI.OperationObject, first: OpenAPI.OperationObject) {
  operation.description = `The first form (\`${first.operationId}\`) is asked for with \`Accept: ${firstFormMediaType}\`.`
  const pairs = [
    [operation.responses?.['200'], first.responses?.['200']],
    [operation.requestBody, first.requestBody],
  ]
  for (const [target, source] of pairs)
    if (target && 'content' in target && source && 'content' in source)
      Object.assign(target.content ?? {}, { [firstFormMediaType]: source.content?.[JSON_TYPE] })
}
