import type { IncomingHttpHeaders } from 'node:http'
import type { Alternative } from 'tallystick-contract'

import type { Resources } from '../../app/resource.ts'
import { preferredMediaType } from '../server/accept.ts'
import type { CompiledProcedure } from './compile.ts'
import { isDatastar } from './datastar.ts'
import type { Call } from '../server/protocol.ts'

// Two procedures can have the same method and path, if one declares itself as the alternative, with a media type of its own
// (`alternative` in engine/contract/meta.ts). This file decides which of both answers a request over REST.

/**
 * Returns whether a request asks for the alternative: `Accept` prefers its media type, the body has its media type or its
 * fields (`isRequestedBy` of the resource), or a Datastar page sent the request and the alternative has a patch for pages.
 */
export function isRequested(
  { request: { headers }, body }: Pick<Call, 'request' | 'body'>,
  { operation, meta: { alternative } }: Pick<CompiledProcedure, 'operation' | 'meta'>,
  resources: Resources,
) {
  if (!alternative) return false
  const [name = '', procedure = ''] = operation.split('.')
  const { datastar, isRequestedBy } = resources[name] ?? {}
  return (
    isPreferred(headers, alternative) ||
    (datastar?.patches[procedure] !== undefined && isDatastar(headers)) ||
    (body !== undefined && (isTypeOfBody(headers, alternative) || isRequestedBy?.(body) === true))
  )
}

/** `application/json` precedes the alternative, so that the alternative is not preferred if both have the same weight. */
const isPreferred = ({ accept = '' }: IncomingHttpHeaders, { mediaType }: Alternative) =>
  preferredMediaType(accept, ['application/json', mediaType]) === mediaType

/** Compares only the parameters: each body that was parsed is `application/json`, and the type of an alternative has a parameter. */
function isTypeOfBody({ 'content-type': type = '' }: IncomingHttpHeaders, { mediaType }: Alternative) {
  const parametersOf = (text: string) =>
    text
      .toLowerCase()
      .split(';')
      .slice(1)
      .map((parameter) => parameter.trim().replaceAll('"', ''))
  const given = parametersOf(type)
  return parametersOf(mediaType).every((parameter) => given.includes(parameter))
}
