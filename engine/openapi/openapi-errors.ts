import { ORPCError } from '@orpc/client'
import type { JSONSchema, OpenAPI, OpenAPIGeneratorGenerateOptions } from '@orpc/openapi'
import { z } from 'zod'
import { badRequest, ErrorBody, errorBody, unavailable } from 'tallystick-contract/internal'

/** Components of the document: schemas, and an example for each named schema except UndefinedError. */
export interface Components {
  schemas: Record<string, object>
  examples: Record<string, OpenAPI.ExampleObject>
}

type ErrorSchema = NonNullable<OpenAPIGeneratorGenerateOptions['customErrorResponseBodySchema']>
type Definition = [code: string, message: string, dataRequired: boolean, data: JSONSchema]

export const reference = (name: string, kind: keyof Components = 'schemas') => ({
  $ref: `#/components/${kind}/${name}`,
})

export const withoutDialect = (json: object) => {
  const { $schema: _, ...schema } = json as Exclude<JSONSchema, boolean>
  return schema
}

const toName = (code: string) =>
  code.toLowerCase().replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())

/**
 * Creates the function that returns the schema of the errors with one status. The function adds the schema and the
 * example of each declared error to the components.
 */
export const createErrorSchema =
  ({ schemas, examples }: Components): ErrorSchema =>
  (definitions, status) => {
    for (const definition of definitions) {
      const name = toName(definition[0])
      schemas[name] = namedError(definition, status)
      examples[name] = { value: exampleOf(definition, status) }
    }
    return { anyOf: [...definitions.map(([code]) => reference(toName(code))), reference('UndefinedError')] }
  }

const namedError = ([code, message, dataRequired, data]: Definition, status: number) => ({
  type: 'object',
  properties: {
    defined: { type: 'boolean', const: true },
    code: { type: 'string', const: code },
    status: { type: 'integer', const: status },
    message: { type: 'string', examples: [message] },
    ...(dataRequired && { data }),
    error: { type: 'string', examples: [message], description: 'The same text as message' },
  },
  required: ['defined', 'code', 'status', 'message', ...(dataRequired ? ['data'] : []), 'error'],
  additionalProperties: false,
})

export function exampleOf([code, message, dataRequired, schema]: Definition, status: number) {
  const data: unknown = typeof schema === 'object' ? schema.examples?.[0] : undefined
  const error = new ORPCError(code, { status, message, ...(dataRequired && { data }) })
  return { ...errorBody(error), defined: true }
}

/** Errors that procedures do not declare (`defined` is false), by status. `default` is the example for all other statuses. */
const undefinedErrors = {
  400: badRequest([{ path: ['limit'], message: 'Must be a whole number' }]),
  413: new ORPCError('PAYLOAD_TOO_LARGE', { message: 'A body may have at most 1048576 bytes' }),
  415: new ORPCError('UNSUPPORTED_MEDIA_TYPE', { message: 'A body must be application/json' }),
  429: new ORPCError('TOO_MANY_REQUESTS', { message: 'Too many requests; try again later' }),
  default: unavailable('The service is at its limit of concurrent requests'),
}

/** Describes the error with a status that procedures do not declare. */
export function describeUndefinedError(status: 400 | 413 | 415 | 429) {
  const error = undefinedErrors[status]
  return { code: error.code, status, message: error.message, isDefined: false, example: errorBody(error) }
}

/** The names of the examples of undefined errors, by status. */
export const undefinedExamples: Record<string, string> = Object.fromEntries(
  Object.entries(undefinedErrors).map(([status, { code }]) => [status, toName(code)]),
)

/** Every error as problem details (RFC 9457), see engine/http/server/errors.ts. */
const problem = {
  type: 'object',
  description:
    'Problem details (RFC 9457), for requests that prefer `application/problem+json` in `Accept`. `code` and `data` have the values of the other error body, and `instance` contains the id of the request.',
  properties: {
    type: { type: 'string', const: 'about:blank' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', format: 'uri' },
    code: { type: 'string' },
    data: {},
  },
  required: ['type', 'title', 'status', 'detail', 'code'],
  additionalProperties: false,
}
const exampleProblem = {
  type: 'about:blank',
  title: 'Service Unavailable',
  status: 503,
  detail: undefinedErrors.default.message,
  instance: 'urn:uuid:6d0f2f0e-6f0c-4f0e-9f57-3b1c2a4d5e6f',
  code: undefinedErrors.default.code,
}

/** Creates the components of the errors that procedures do not declare. */
export function createErrorComponents(): Components {
  const properties = { defined: { type: 'boolean', const: false } }
  return {
    schemas: {
      Error: withoutDialect(z.toJSONSchema(ErrorBody, { io: 'output' })),
      UndefinedError: { allOf: [reference('Error'), { type: 'object', properties }] },
      Problem: problem,
    },
    examples: {
      ...Object.fromEntries(
        Object.values(undefinedErrors).map((error) => [toName(error.code), { value: errorBody(error) }]),
      ),
      Problem: { value: exampleProblem },
    },
  }
}

/** Creates the response of an operation for errors that the procedure does not declare. */
export const undefinedErrorResponse = () => ({
  description: 'Any other error',
  content: { 'application/json': { schema: reference('UndefinedError') } },
})
