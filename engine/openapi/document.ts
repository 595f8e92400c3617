import { type JSONSchema, JSONSchemaFormat, type OpenAPI, OpenAPIGenerator } from '@orpc/openapi'
import { traverseContractProcedures } from '@orpc/server'
import { ZodToJsonSchemaConverter, type ZodToJsonSchemaConverterOptions } from '@orpc/zod/zod4'
import { z } from 'zod'
import { metaOf } from 'tallystick-contract/internal'

import type { App } from '../app/resource.ts'
import { classOf } from '../values/schema.ts'
import { listNamedSchemas } from './named-schemas.ts'
import {
  type Components,
  createErrorComponents,
  createErrorSchema,
  withoutDialect,
} from './openapi-errors.ts'
import {
  addExamples,
  addAlternative,
  completeOperation,
  type DocumentedProcedure,
} from './openapi-operation.ts'

type Interceptor = NonNullable<ZodToJsonSchemaConverterOptions['interceptors']>[number]

export const createInfo = ({ name, version, description, license }: App, baseUrl: string) => ({
  title: name,
  version,
  ...(license && { license: { name: license, identifier: license } }),
  description: [
    description,
    'To sign in, request a code with `POST /api/auth/email-otp/send-verification-otp {"email", "type": "sign-in"}`',
    'and send it with `POST /api/auth/sign-in/email-otp {"email", "otp"}`, which sets the session cookie.',
  ].join(' '),
  contact: { name: 'The operator of this service', url: baseUrl },
})

/** Lists names as text: `books, loans and account`. */
const listFormat = new Intl.ListFormat('en-GB')

/** The security scheme of the session cookie, whose name has a prefix over https (engine/identity/cookies.ts). */
const sessionScheme = ({ cookiePrefix }: App, baseUrl: string) => ({
  type: 'apiKey' as const,
  in: 'cookie' as const,
  name: `${baseUrl.startsWith('https:') ? '__Host-' : ''}${cookiePrefix}.session_token`,
})

/**
 * Creates the OpenAPI document of an application. If two procedures have the same method and path, the document contains both,
 * with different media types. The URLs of OAuth are absolute, because some tools refuse relative ones.
 */
export async function createDocument(app: App, baseUrl: string): Promise<OpenAPI.Document> {
  const { contract } = app
  const components = createErrorComponents()
  // Two documents, because a document has one operation for each method and path.
  const [document, alternatives] = [
    await generate(app, baseUrl, components, 'others'),
    await generate(app, baseUrl, components, 'alternatives'),
  ]
  Object.assign(components.schemas, document.components?.schemas)
  for (const { name, example } of listNamedSchemas(contract)) components.examples[name] = { value: example }
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
    const { alternative } = metaOf(procedure)
    const operation = getOperation(alternative ? alternatives : document, procedure)
    completeOperation(operation, procedure, path, components)
    if (alternative) addAlternative(getOperation(document, procedure), operation, alternative)
  })
  const usedExamples = Object.values(document.paths ?? {})
    .flatMap((item) => Object.values(item ?? {}) as OpenAPI.OperationObject[])
    .flatMap((operation) => {
      operation.description ??= `${operation.summary ?? ''}.`
      return addExamples(operation)
    })
  return {
    ...document,
    tags: listTags(app),
    components: {
      schemas: sortKeys(components.schemas),
      examples: sortKeys(pick(components.examples, usedExamples)),
      securitySchemes: { session: sessionScheme(app, baseUrl), token: tokenScheme(app, baseUrl) },
    },
  }
}

/** Lists the resources with their descriptions. */
export const listTags = ({ resources }: App) =>
  Object.entries(resources).map(([name, { description }]) => ({ name, description }))

/** The security scheme of the token of an app, or of a personal token. */
const tokenScheme = ({ scopeResources: { read, write } }: App, baseUrl: string) => ({
  type: 'oauth2' as const,
  flows: {
    authorizationCode: {
      authorizationUrl: `${baseUrl}/authorize`,
      tokenUrl: `${baseUrl}/token`,
      refreshUrl: `${baseUrl}/token`,
      scopes: {
        read: `Read your ${listFormat.format(read.map(({ en }) => en))}`,
        write: `Create, change, share and delete your ${listFormat.format(write.map(({ en }) => en))}`,
      },
    },
  },
})

const sortKeys = <Value>(record: Record<string, Value>) =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))

const pick = <Value>(record: Record<string, Value>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)))

/** Removes the pattern of a time: its format is enough, and its 256 characters hide the other schemas. */
function withoutTimePattern(json: Exclude<JSONSchema, boolean>) {
  if (json.format === 'date-time') delete json.pattern
  return json
}

/** Returns the JSON Schema of a `z.instanceof` whose instances are sent as texts. */
function textOf(schema: z.core.$ZodType): Exclude<JSONSchema, boolean> | undefined {
  const instances = classOf(schema)
  if (instances === URL) return { type: 'string', format: JSONSchemaFormat.URI }
  return instances === Date ? { type: 'string', format: JSONSchemaFormat.DateTime } : undefined
}

/** Converts a schema to its published JSON Schema. */
const publishSchema: Interceptor = ({ schema, options, next }) => {
  // For strings and numbers, uses Zod's own conversion, because oRPC's converter omits patterns and ranges.
  if (['string', 'number'].includes(schema._zod.def.type))
    return [true, withoutTimePattern(withoutDialect(z.toJSONSchema(schema, { io: options.strategy })))]
  // A schema with custom validation code declares its JSON type in `meta`.
  const { type, id: _, ...metadata } = z.globalRegistry.get(schema) ?? {}
  if (type === 'integer') return [true, { type, ...metadata }]
  const text = textOf(schema)
  if (text) return [true, { ...text, ...metadata }]
  const [required, json] = next()
  // An answer has no other fields, because the service removes fields that the schema does not declare.
  const closed = options.strategy === 'output' && json.type === 'object' && json.properties
  return [required, { ...json, ...(closed && { additionalProperties: false }) }]
}

export const schemaConverter = new ZodToJsonSchemaConverter({ interceptors: [publishSchema] })

const generator = new OpenAPIGenerator({ schemaConverters: [schemaConverter] })

/** Generates the document of the alternatives, or of all other procedures. Adds the declared errors to `components`. */
const generate = (app: App, baseUrl: string, components: Components, kind: 'alternatives' | 'others') =>
  generator.generate(app.contract, {
    info: createInfo(app, baseUrl),
    servers: [{ url: '/' }],
    filter: ({ contract }) => Boolean(metaOf(contract).alternative) === (kind === 'alternatives'),
    commonSchemas: Object.fromEntries(
      listNamedSchemas(app.contract).map(({ name, schema, strategy }) => [name, { schema, strategy }]),
    ),
    customErrorResponseBodySchema: createErrorSchema(components),
  })

function getOperation(document: OpenAPI.Document, procedure: DocumentedProcedure): OpenAPI.OperationObject {
  const { path = '', method = 'POST' } = procedure['~orpc'].route
  const item: Record<string, unknown> = document.paths?.[path] ?? {}
  return item[method.toLowerCase()] as OpenAPI.OperationObject
}
