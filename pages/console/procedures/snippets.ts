import type { ProcedureDescription } from '../../../engine/openapi/procedure-description.ts'
import { isRecord } from './schema.ts'

/** A call, as the page makes the call. */
export interface Call {
  /** The origin of the service. */
  origin: string
  procedure: ProcedureDescription
  input: unknown
  isSignedIn: boolean
  /** Further headers of the request, with names in lower case. */
  headers: Readonly<Record<string, string>>
}

/** Quotes a text for a POSIX shell. */
export const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Whether the procedure rejects access tokens, so that the call needs the cookie of a session. */
export const needsSession = ({ access, scope }: ProcedureDescription) => access !== 'public' && scope === null

/** Whether the procedure deletes something or ends an access, by its method or its name. */
export const isDestructive = ({ method, operation }: ProcedureDescription) =>
  method === 'DELETE' || /\.(?:delete|remove|reset|revoke|unshare|leave)[^.]*$/.test(operation)

/** Returns the header with the credential, for a shell that has the credential in a variable. */
function credentialOf({ isSignedIn, procedure }: Call) {
  if (!isSignedIn) return []
  return needsSession(procedure) ? ['-H "cookie: $COOKIE"'] : ['-H "authorization: Bearer $TOKEN"']
}

/** Returns the call for curl. */
export function toCurl(call: Call) {
  const { origin, procedure, headers } = call
  const { path, query, body } = toRequest(procedure, call.input)
  const method = procedure.method === 'GET' ? '' : `-X ${procedure.method} `
  // Without the buffer of curl, which holds events back.
  const stream = procedure.isStream ? '-N ' : ''
  const parts = [
    `curl ${stream}${method}${quote(`${origin}${path}${query && `?${query}`}`)}`,
    ...credentialOf(call),
    ...(procedure.mediaType === null ? [] : [`-H ${quote(`accept: ${procedure.mediaType}`)}`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [`-H ${quote('content-type: application/json')}`, `-d ${quote(JSON.stringify(body))}`]),
  ]
  return parts.join(' \\\n  ')
}

/** Divides an input into the parts of a request: parameters of the path, and the query of GET or the body. */
export function toRequest({ method, path }: ProcedureDescription, input: unknown) {
  if (!isRecord(input)) return { path, query: '', body: method === 'GET' ? undefined : input }
  const used = new Set<string>()
  const filled = path.replace(/\{\+?([^}]+)\}/g, (placeholder, name: string) => {
    const value = input[name]
    if (typeof value !== 'string' && typeof value !== 'number') return placeholder
    used.add(name)
    return encodeURIComponent(value)
  })
  const rest = Object.entries(input).filter(([name]) => !used.has(name))
  if (method === 'GET') {
    const query = new URLSearchParams()
    for (const [name, value] of rest) addParameter(query, name, value)
    return { path: filled, query: query.toString(), body: undefined }
  }
  return { path: filled, query: '', body: rest.length > 0 ? Object.fromEntries(rest) : undefined }
}

/** Adds a value to a query. Lists and objects have brackets: `topics[0]=tasks`. */
function addParameter(query: URLSearchParams, name: string, value: unknown) {
  if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value)) addParameter(query, `${name}[${key}]`, member)
  else if (value !== undefined) query.append(name, typeof value === 'string' ? value : JSON.stringify(value))
}

/** Returns the command of the project for this service. */
const commandOf = (origin: string) => `npx tallystick --at ${quote(origin)}`

/** Returns the commands that sign the command line in, and that create a token for scripts or for agents. */
export const toLogin = ({ origin }: Call) => `${commandOf(origin)} login`
export const toCreateToken = ({ origin, procedure: { scope } }: Call, audience: 'scripts' | 'agents') =>
  `${commandOf(origin)} create-token --scope ${scope ?? 'read'} --label ${audience === 'agents' ? 'Agent --for mcp' : 'Script'}`

/** Returns the call for the command line of the project. */
export const toCommandLine = ({ origin, procedure: { operation }, input }: Call) =>
  [
    `${commandOf(origin)} call ${operation}`,
    ...(input === undefined ? [] : [quote(JSON.stringify(input))]),
  ].join(' ')

/** Returns the message of an agent. Returns undefined if agents cannot call the procedure. */
export function toMcpMessage({ procedure: { tool }, input }: Call) {
  if (tool === null) return undefined
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: input ?? {} } }
}

/** Returns the message of an agent for curl. Agents need a token for public procedures, too. */
export const toMcpCurl = (call: Call) =>
  [
    `curl ${quote(`${call.origin}/mcp`)}`,
    '-H "authorization: Bearer $AGENT"',
    `-H ${quote('content-type: application/json')}`,
    `-H ${quote('accept: application/json, text/event-stream')}`,
    `-d ${quote(JSON.stringify(toMcpMessage(call)))}`,
  ].join(' \\\n  ')
