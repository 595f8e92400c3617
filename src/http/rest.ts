import { toHttpPath } from '@orpc/client/standard'
import { decodeParams, StandardOpenAPICodec, toRou3Pattern } from '@orpc/openapi/standard'
import {
  StandardBracketNotationSerializer,
  StandardOpenAPIJsonSerializer,
  StandardOpenAPISerializer,
} from '@orpc/openapi-client/standard'
import type { StandardLazyRequest } from '@orpc/standard-server'
import { addRoute, createRouter, findRoute } from 'rou3'

import { toJson } from '../output.ts'
import type { CompiledProcedure } from './compile.ts'
import type { WireFormat } from './handler.ts'
import { contentTypeOf, isFirstForm } from './note-forms.ts'
import type { Call } from './protocol.ts'

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

/** Creates the wire format of REST: the paths of the contract, with the codec of oRPC's OpenAPI handler. */
export function createRestFormat(procedures: readonly CompiledProcedure[]): WireFormat {
  const routes = createRouter<CompiledProcedure>()
  /** The routes of the first form of notes, which has the same paths as the second form. */
  const firstFormRoutes = createRouter<CompiledProcedure>()
  for (const each of procedures) {
    const { route, operation, meta } = each
    const pattern = toRou3Pattern(route.path ?? toHttpPath(operation.split('.')))
    addRoute(meta.form === 1 ? firstFormRoutes : routes, route.method ?? 'POST', pattern, each)
  }
  return {
    find: (call) => {
      const { method, path } = call
      const second = findRoute(routes, method, path)
      const found =
        second?.data.meta.form && isFirstForm(call) ? findRoute(firstFormRoutes, method, path) : second
      return found && { procedure: found.data, params: found.params && decodeParams(found.params) }
    },
    decode: (call, { params, procedure: { procedure, hasInput } }) =>
      hasInput ? codec.decode(new StandardRequest(call), params, procedure) : undefined,
    encode: (output, { procedure, meta }, { context: { reply } }) => {
      const type = contentTypeOf(meta)
      const { status, headers, body } = codec.encode(output, procedure)
      for (const [name, value] of Object.entries(headers)) if (value !== undefined) reply.set(name, value)
      return { status, text: JSON.stringify(body), type }
    },
    encodeEvents: (events) => serializer.serialize(events),
    frame: (topic, state) => `data: ${toJson({ topic, state })}\n\n`,
    isConditional: true,
  }
}
