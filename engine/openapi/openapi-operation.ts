import type { HTTPMethod, HTTPPath } from '@orpc/client'
import { type AnySchema, getEventIteratorSchemaDetails } from '@orpc/contract'
import type { OpenAPI } from '@orpc/openapi'
import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Alternative, Meta } from 'tallystick-contract'

import { isZod, typesOf } from '../values/schema.ts'
import { undefinedErrorResponse, type Components, reference, undefinedExamples } from './openapi-errors.ts'
import { addHeaders } from './openapi-headers.ts'

const JSON_TYPE = 'application/json'
const PROBLEM_TYPE = 'application/problem+json'

/** The parts of a procedure that the document needs in addition to the parts that the generator of oRPC reads. */
export interface DocumentedProcedure {
  '~orpc': { meta: Meta; route: { path?: HTTPPath; method?: HTTPMethod }; outputSchema?: AnySchema }
}

/** Whether a procedure watches topics that need no caller. */
export const hasPublicTopics = (watches: Meta['watches']) =>
  watches?.some((topic) => topic.access === 'public') === true

const toPlainJson = (schema: unknown): unknown => JSON.parse(JSON.stringify(schema ?? null))

/** Adds the parts that the generator omits: security requirements, headers, and all possible responses. */
export function completeOperation(
  operation: OpenAPI.OperationObject,
  { '~orpc': { route, meta, outputSchema } }: DocumentedProcedure,
  path: readonly string[],
  { schemas }: Components,
) {
  operation.operationId = path.join('_')
  operation.tags = [path[0] ?? '']
  const { access, watches, scope, rateLimit, datastarExample, tool } = meta
  if (tool) operation.description ??= tool.description
  const isStream = getEventIteratorSchemaDetails(outputSchema) !== undefined
  const credentials = [{ session: [] }, ...(scope ? [{ token: [scope] }] : [])]
  // The empty requirement: a call that names only public topics needs no credentials.
  const anonymous = hasPublicTopics(watches) ? [{}] : []
  operation.security = access === 'public' ? [] : [...anonymous, ...credentials]
  correctParameters(operation)

  const body = contentOf(operation.requestBody)?.[JSON_TYPE]
  // The generator removes path parameters from the input, and then writes the schema of the body in full: if the rest equals a
  // component, the body refers to the component again.
  const component = Object.keys(schemas).find((name) =>
    isDeepStrictEqual(toPlainJson(schemas[name]), toPlainJson(body?.schema)),
  )
  if (body && component) body.schema = reference(component)

  // Every request can be malformed: the limit of the query applies to all paths. The number of open streams has a limit, too.
  const statuses = [400, ...(body ? [413, 415] : []), ...(rateLimit || isStream ? [429] : [])]
  operation.responses = {
    ...Object.fromEntries(statuses.map((status) => [status, undefinedErrorResponse()])),
    ...operation.responses,
  }
  describeAbsence(operation.responses, outputSchema)
  addHeaders(operation, { ...meta, isStream }, route.method)
  for (const [status, response] of Object.entries(operation.responses))
    operation.responses[status] = { ...response, description: STATUS_CODES[status] ?? '' }
  operation.responses.default = undefinedErrorResponse()
  for (const [status, response] of Object.entries(operation.responses))
    if (status === 'default' || Number(status) >= 400) addProblem(response)
  if (datastarExample !== undefined) addEvents(operation, datastarExample)
  if (isStream) describeStream(operation)
}

/** The types of items that contain no comma. */
const PLAIN = ['number', 'integer', 'boolean']

/** Returns whether commas separate the items of a list, as `hasNoComma` (engine/values/leaves.ts) decodes the list. */
function hasCommas(items: OpenAPI.SchemaObject) {
  const texts: unknown[] | undefined = items.enum ?? ('const' in items ? [items.const] : undefined)
  if (texts) return texts.every((value) => !String(value).includes(','))
  return 'x-native-type' in items || items.format === 'date-time' || PLAIN.includes(String(items.type))
}

/**
 * Removes two flags that the generator sets on every query parameter: the service refuses empty values, and clients must
 * encode reserved characters. Lists are documented as values with commas, unless an item can contain a comma: such a
 * list repeats the parameter. A query contains no null: the parameter is absent.
 */
function correctParameters({ parameters = [] }: OpenAPI.OperationObject) {
  for (const parameter of parameters)
    if (!('$ref' in parameter)) {
      delete parameter.allowEmptyValue
      delete parameter.allowReserved
      removeNull(parameter)
      const { schema } = parameter
      if (schema && 'type' in schema && schema.type === 'array') {
        // `explode` repeats the parameter for each item. A tuple has no `items`.
        const explode = !('items' in schema) || '$ref' in schema.items || !hasCommas(schema.items)
        Object.assign(parameter, { style: 'form', explode })
      }
    }
}

function removeNull(parameter: OpenAPI.ParameterObject) {
  const { schema } = parameter
  if (parameter.in !== 'query' || !schema || '$ref' in schema || !schema.anyOf) return
  const [first, ...others] = schema.anyOf.filter(
    (option) => !('type' in option && String(option.type) === 'null'),
  )
  const hasNull = others.length + 1 < schema.anyOf.length
  if (!hasNull || !first) return
  const { anyOf: _, ...rest } = schema
  parameter.required = false
  parameter.schema = others.length > 0 ? { ...rest, anyOf: [first, ...others] } : { ...rest, ...first }
}

/** An output that is undefined is answered with 204, without a body. */
function describeAbsence(responses: OpenAPI.ResponsesObject, outputSchema: AnySchema | undefined) {
  if (!isZod(outputSchema)) return
  const types = typesOf(outputSchema, 'output')
  if (!types.has('undefined')) return
  if (types.size === 1) delete responses['200']
  responses['204'] = { description: '' }
}

type Body = OpenAPI.RequestBodyObject | OpenAPI.ResponseObject | OpenAPI.ReferenceObject

const contentOf = (body: Body | undefined) => (body && 'content' in body ? body.content : undefined)

/** Adds the response that Datastar pages receive. */
function addEvents(operation: OpenAPI.OperationObject, example: string) {
  const content = contentOf(operation.responses?.['200'])
  if (content) content['text/event-stream'] = { schema: { type: 'string' }, example }
  addDescription(
    operation,
    'Datastar pages receive server-sent events: requests with `Datastar-Request: true`, or that prefer `text/event-stream` in `Accept`.',
  )
}

/** Documents the data of an event as the schema of the stream, which OpenAPI 3.1 cannot describe otherwise. */
function describeStream(operation: OpenAPI.OperationObject) {
  const media = contentOf(operation.responses?.['200'])?.['text/event-stream']
  // The generator describes an event as an object with the property `data`.
  const { oneOf: [event] = [] } = media?.schema as {
    oneOf?: { properties: { data: OpenAPI.SchemaObject } }[]
  }
  if (media) media.schema = event?.properties.data ?? {}
  addDescription(
    operation,
    'Sends server-sent events without end, and a comment every 15 seconds. The schema is the schema of the `data` of each event. To continue after a lost connection, send the `id` of the last event as `Last-Event-ID`: states that have not changed are not sent again. With the header `Datastar-Request: true`, the events are patches of Datastar pages.',
  )
}

/** Adds the second representation of an error. Some generators read only the first media type. */
function addProblem(response: Body) {
  const content = contentOf(response)
  if (content) content[PROBLEM_TYPE] = { schema: reference('Problem') }
}

const addDescription = (operation: OpenAPI.OperationObject, text: string) => {
  operation.description = [operation.description, text].filter(Boolean).join(' ')
}

/** Adds an alternative to an operation. A request with the media type `application/json` may contain either body. */
export function addAlternative(
  operation: OpenAPI.OperationObject,
  added: OpenAPI.OperationObject,
  { name, mediaType, bodies }: Alternative,
) {
  const response = contentOf(operation.responses?.['200'])
  const { [JSON_TYPE]: answer, ...events } = contentOf(added.responses?.['200']) ?? {}
  Object.assign(response ?? {}, { [mediaType]: answer, ...events })
  const request = contentOf(operation.requestBody)
  const input = contentOf(added.requestBody)?.[JSON_TYPE]
  const schemas = [request?.[JSON_TYPE]?.schema, input?.schema].flatMap((schema) => schema ?? [])
  if (request && input)
    Object.assign(request, { [JSON_TYPE]: { schema: { anyOf: schemas } }, [mediaType]: input })
  const selections = [`\`Accept: ${mediaType}\``]
  if (input) selections.push(`\`Content-Type: ${mediaType}\``, ...(bodies === undefined ? [] : [bodies]))
  addDescription(
    operation,
    `${name} (\`${added.operationId}\`) answers requests with ${selections.join(', or ')}.`,
  )
  if (added.description !== undefined) addDescription(operation, added.description)
}

/** Adds an example for each named schema in the bodies of an operation. Returns the names of these examples. */
export const addExamples = ({ requestBody, responses = {} }: OpenAPI.OperationObject) => [
  ...addExamplesTo(requestBody),
  ...Object.entries(responses).flatMap(([status, body]) => addExamplesTo(body, undefinedExamples[status])),
]

const addExamplesTo = (body: Body | undefined, undefinedExample?: string) =>
  Object.values(contentOf(body) ?? {}).flatMap((media) => {
    const { $ref, anyOf = [] } = media.schema as { $ref?: string; anyOf?: { $ref?: string }[] }
    const schemas = [{ $ref }, ...anyOf].flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? [])
    const names = schemas.flatMap((name) => (name === 'UndefinedError' ? undefinedExample : name) ?? [])
    if (names.length > 0)
      media.examples = Object.fromEntries(names.map((name) => [name, reference(name, 'examples')]))
    return names
  })
