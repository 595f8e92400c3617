import { MAX_BYTES } from 'tallystick-contract/internal'

import type { Endpoint, Endpoints } from '../../../app/endpoint.ts'
import { isMediaType } from '../../../app/media-types.ts'
import { hidesPath, isSamePlace, isWithin, parametersOf, PATH } from '../../../app/paths.ts'
import type { Declared } from './procedures.ts'

/** The paths of the engine. Endpoints cannot have them, or a path below them. */
export const ENGINE_PATHS = [
  '/api/auth',
  '/api/health',
  '/api/openapi.json',
  '/assets',
  '/authorize',
  '/device',
  '/device_authorization',
  '/docs',
  '/mcp',
  '/register',
  '/revoke',
  '/rpc',
  '/token',
  '/.well-known/jwks.json',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource',
]

/** Maximum of `timeout`, in seconds. */
const MAX_TIMEOUT = 3600
const NAME = /^[a-z]\w*$/i

/** A sentence without the name of the endpoint. Undefined if the endpoint does not have this mistake. */
type Check = (endpoint: Endpoint, all: Endpoints, procedures: readonly Declared[]) => string | undefined

/** Returns a sentence for each mistake in the declarations of the endpoints. */
export const mistakesOfEndpoints = (endpoints: Endpoints, procedures: readonly Declared[]) =>
  Object.entries(endpoints).flatMap(([name, endpoint]) => [
    ...(NAME.test(name) ? [] : [`endpoints.${name}: a name has letters, digits and underscores only`]),
    ...(procedures.some(({ operation }) => operation === `endpoints.${name}`)
      ? [`endpoints.${name}: a procedure has the same name in the log; rename the endpoint`]
      : []),
    ...[...checksOfPlaces, ...checksOfBodies, ...checksOfAccess].flatMap((check) => {
      const mistake = check(endpoint, endpoints, procedures)
      return mistake === undefined ? [] : [`endpoints.${name}: ${mistake}`]
    }),
  ])

const checksOfPlaces: readonly Check[] = [
  ({ path }) => {
    const parameters = parametersOf(path)
    return PATH.test(path) && new Set(parameters).size === parameters.length
      ? undefined
      : `the path ${path} must have segments with letters, digits, \`-\`, \`.\`, \`_\` and \`~\`, or different parameters: \`/api/covers/{id}\``
  },
  ({ path }) => {
    const hidden = ENGINE_PATHS.find((own) => isWithin(path, own))
    return hidden === undefined
      ? undefined
      : `the path ${path} belongs to the engine (${hidden}); use another path`
  },
  ({ method, path }, _, procedures) => {
    const hidden = procedures.find(({ operation, procedure }) => {
      const { route } = procedure['~orpc']
      return (
        (route.method ?? 'POST') === method &&
        hidesPath(path, route.path ?? `/${operation.replaceAll('.', '/')}`)
      )
    })
    return hidden && `${method} ${path} would hide the procedure ${hidden.operation}; use another path`
  },
  (endpoint, all) => {
    const [name] =
      Object.entries(all).find(
        ([, other]) => other.method === endpoint.method && isSamePlace(other.path, endpoint.path),
      ) ?? []
    return name === undefined || all[name] === endpoint
      ? undefined
      : `endpoints.${name} has the same method and path`
  },
]

const isCount = (value: number, maximum: number) => Number.isInteger(value) && value > 0 && value <= maximum

const checksOfBodies: readonly Check[] = [
  ({ method, body }) =>
    method === 'GET' && body !== undefined ? 'a GET has no body; remove `body`, or use `POST`' : undefined,
  ({ body, maxBytes, types }) => {
    const [unused] = Object.entries({ maxBytes, types }).flatMap(([name, value]) => (value ? [name] : []))
    return body === undefined && unused !== undefined
      ? `without \`body\`, \`${unused}\` has no effect; declare \`body\`, or remove \`${unused}\``
      : undefined
  },
  ({ body, maxBytes }) => {
    const maximum = body === 'stream' ? Number.MAX_SAFE_INTEGER : MAX_BYTES
    return maxBytes === undefined || isCount(maxBytes, maximum)
      ? undefined
      : `\`maxBytes\` is ${maxBytes}, but must be a number of bytes from 1 to ${maximum}. Only a stream can be larger than 16 MiB`
  },
  ({ types = [] }) => {
    const wrong = types.find((type) => !isMediaType(type))
    return wrong === undefined
      ? undefined
      : `${wrong} is no media type in lower case without parameters, such as \`text/csv\` or \`image/*\``
  },
  ({ body, types }) =>
    body === 'form' && types
      ? 'a form is always `application/x-www-form-urlencoded`; remove `types`, or use `bytes` for other forms'
      : undefined,
  ({ timeout }) =>
    timeout === undefined || isCount(timeout, MAX_TIMEOUT)
      ? undefined
      : `\`timeout\` is ${timeout}, but must be a whole number of seconds from 1 to ${MAX_TIMEOUT}`,
]

const checksOfAccess: readonly Check[] = [
  ({ access, rateLimit }) =>
    !access && rateLimit.perAccount
      ? `the limit ${rateLimit.name} counts by account, but a public endpoint has no caller; remove \`perAccount: true\``
      : undefined,
  ({ method, access }) =>
    access?.scope !== undefined && (access.scope === 'read') !== (method === 'GET')
      ? `a ${method} needs the scope \`${method === 'GET' ? 'read' : 'write'}\``
      : undefined,
  ({ method, audit }) =>
    audit && method === 'GET'
      ? 'a GET changes nothing, so the audit trail has no entry; remove `audit`'
      : undefined,
  ({ body, audit, access }) =>
    body === 'stream' && (audit ?? (access && !access.sensitive))
      ? 'the entry in the audit trail would keep a transaction open while the stream arrives; use `sensitive: true` and no `audit`, or another body'
      : undefined,
]
