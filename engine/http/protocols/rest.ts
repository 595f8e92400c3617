import { toHttpPath } from '@orpc/client/standard'
import { decodeParams, StandardOpenAPICodec, toRou3Pattern } from '@orpc/openapi/standard'
import {
  StandardBracketNotationSerializer,
  StandardOpenAPIJsonSerializer,
  StandardOpenAPISerializer,
} from '@orpc/openapi-client/standard'
import type { StandardLazyRequest } from '@orpc/standard-server'
import { addRoute, createRouter, findRoute } from 'rou3'

import { toJson } from '../../values/output.ts'
import type { Resources } from '../../app/resource.ts'
import { isRequested } from './alternatives.ts'
import type { CompiledProcedure } from './compile.ts'
import type { WireFormat } from '../server/handler.ts'
import type { Call } from '../server/protocol.ts'
import { createRestDecoder } from '../../values/decode.ts'
import { schemasOf } from '../../values/schema.ts'

const serializer = new StandardOpenAPISerializer(
  new StandardOpenAPIJsonSerializer(),
  new StandardBracketNotationSerializer(),
)
const codec = new StandardOpenAPICodec(serializer)

/** A call in the type that oRPC's codec reads. */
class StandardRequest implements StandardLazyRequest {
  readonly method: string
  readonly headers: StandardLazyRequest['headers']
  readonly signal = undefined
  readonly #call: Call

  constructor(call: Call) {
    this.method = call.method
    this.headers = call.context.headers
    this.#call = call
  }

  get url() {
    return this.#call.url()
  }

  body() {
    return Promise.resolve(this.#call.body)
  }
}

/** Returns the procedures that have an alternative with the same method and path, with the alternative. */
function findAlternatives(procedures: readonly CompiledProcedure[]) {
  const others = procedures.filter(({ meta }) => !meta.alternative)
  const pairs = procedures.flatMap((each) => {
    const { method, path } = each.route
    const other = others.find(({ route }) => route.method === method && route.path === path)
    return each.meta.alternative && other ? [[other, each] as const] : []
  })
  return new Map(pairs)
}

/** Creates the wire format of REST: the paths of the contract, with the codec of oRPC's OpenAPI handler. */
export function createRestFormat(procedures: readonly CompiledProcedure[], resources: Resources): WireFormat {
  const routes = createRouter<CompiledProcedure>()
  for (const each of procedures) {
    const { route, operation, meta } = each
    const pattern = toRou3Pattern(route.path ?? toHttpPath(operation.split('.')))
    if (!meta.alternative) addRoute(routes, route.method ?? 'POST', pattern, each)
  }
  const alternatives = findAlternatives(procedures)
  const decoders = new Map(
    procedures.map((each) => [each, createRestDecoder(schemasOf(each.procedure).inputSchema, each.route)]),
  )
  return {
    find: (call) => {
      const { method, path } = call
      const found = findRoute(routes, method, path)
      if (!found) return undefined
      const alternative = alternatives.get(found.data)
      const procedure = alternative && isRequested(call, alternative, resources) ? alternative : found.data
      return { procedure, params: found.params && decodeParams(found.params) }
    },
    listAt(method, path) {
      const { data } = findRoute(routes, method, path) ?? {}
      return data ? [data, alternatives.get(data) ?? data] : []
    },
    decode: (call, { params, procedure: compiled }) => {
      if (!compiled.hasInput) return undefined
      const input = codec.decode(new StandardRequest(call), params, compiled.procedure)
      const decode = decoders.get(compiled)
      return decode ? input.then(decode) : input
    },
    encode: (output, { procedure, meta }, { context: { reply } }) => {
      const { status, headers, body } = codec.encode(output, procedure)
      for (const [name, value] of Object.entries(headers)) if (value !== undefined) reply.set(name, value)
      if (body === undefined) return { status: 204, text: '' }
      return { status, text: JSON.stringify(body), type: meta.alternative?.mediaType }
    },
    encodeEvents: (events) => serializer.serialize(events),
    formatEvent: (update) => `data: ${toJson(update)}\n\n`,
    sendsNotModified: true,
  }
}
