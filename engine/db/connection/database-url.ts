import { isIP } from 'node:net'

import { parse } from 'pg-connection-string'

/** A host that begins with a slash is the folder of a Unix socket. */
export interface Server {
  host: string
  port: number
}

export interface DatabaseUrl {
  servers: [Server, ...Server[]]
  /** Options of postgres.js for each connection. */
  driver: {
    database?: string
    user?: string
    pass?: string
    ssl?: boolean | object | 'prefer'
    sslnegotiation?: 'direct'
  }
  /** Parameters that a connection sends at its start. */
  startup: { application_name?: string; options?: string }
  /** Parameters that have no effect: known names, and the number of the others. */
  ignored: string[]
}

const URL_PATTERN =
  /^postgres(?:ql)?:\/\/(?:(?<credentials>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<path>[^?#@]*)(?:\?(?<search>[^#]*))?$/
const HOST_PATTERN = /^(?<host>\[[^\]]+\]|[^:]*)(?::(?<port>.*))?$/
const DEFAULT_PORT = '5432'

/** Parameters with the path of a file. */
const FILE_PARAMETERS = ['sslrootcert', 'sslcert', 'sslkey']
const USED = [
  ...['host', 'port', 'user', 'password', 'dbname'],
  ...['ssl', 'sslmode', 'uselibpqcompat', 'sslnegotiation', ...FILE_PARAMETERS],
  ...['application_name', 'options'],
]
/** Parameters of libpq, Prisma and poolers that have no effect. The names of all other parameters can be parts of a password. */
const IGNORED = [
  ...['channel_binding', 'client_encoding', 'connect_timeout', 'fallback_application_name', 'gssencmode'],
  ...['keepalives', 'keepalives_count', 'keepalives_idle', 'keepalives_interval', 'load_balance_hosts'],
  ...['require_auth', 'sslcompression', 'sslcrl', 'sslsni', 'target_session_attrs', 'tcp_user_timeout'],
  ...['connection_limit', 'pgbouncer', 'pool_timeout', 'schema', 'socket_timeout', 'statement_cache_size'],
]
/** Parameters of libpq that name another server. */
const REFUSED = ['hostaddr', 'service', 'servicefile', 'passfile']

/** The `sslmode` of libpq for each value of `sslmode` and `ssl`. */
const SSL_MODES = new Map([
  ['false', 'disable'],
  ['0', 'disable'],
  ['disable', 'disable'],
  ['allow', 'prefer'],
  ['prefer', 'prefer'],
  ['require', 'require'],
  ['no-verify', 'require'],
  ['verify-ca', 'verify-ca'],
  ['true', 'verify-full'],
  ['1', 'verify-full'],
  ['verify-full', 'verify-full'],
])

const PERCENT_ENCODE = 'percent-encode the characters / ? # @ : % in the user name and the password'

/**
 * Parses the URL of a PostgreSQL server, or of several servers of one cluster (`a:5432,b:5432`), with the parameters of
 * libpq: of a repeated parameter, the last value counts. Reads the files of the parameters `sslrootcert`, `sslcert` and
 * `sslkey`. The messages of errors name the parameter, and never contain the URL, because the URL can contain a password.
 */
export function parseDatabaseUrl(url: string): DatabaseUrl {
  const parts = URL_PATTERN.exec(url)?.groups
  if (!parts)
    throw new Error(`Must be a URL such as postgres://user:password@host/database: ${PERCENT_ENCODE}`)
  const { credentials = '', hosts = '', path = '', search = '' } = parts
  // As in libpq, a plus sign is no blank.
  const query = new Map(new URLSearchParams(search.replaceAll('+', '%2B')))
  for (const name of query.keys()) {
    if (!/^\w+$/.test(name)) fail('a parameter', `has an invalid name: ${PERCENT_ENCODE}`)
    if (REFUSED.includes(name)) fail(name, 'is not supported: use host and port')
  }
  const servers = readServers(hosts, query)
  const [user = '', ...passwords] = credentials.split(':')
  return {
    servers,
    driver: {
      ...omitEmpty({
        database: query.get('dbname') ?? decode('the database', path.replace(/^\//, '')),
        user: query.get('user') ?? decode('the user name', user),
        pass: query.get('password') ?? decode('the password', passwords.join(':')),
        sslnegotiation: query.get('sslnegotiation') === 'direct' ? ('direct' as const) : undefined,
      }),
      ...readTls(query, servers),
    },
    startup: omitEmpty({ application_name: query.get('application_name'), options: query.get('options') }),
    ignored: listIgnored(query),
  }
}

/** Returns the argument of `socket.connect` for a server. */
export const socketAddress = ({ host, port }: Server) =>
  host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }

function listIgnored(query: ReadonlyMap<string, string>) {
  const names = [...query.keys()].filter((name) => !USED.includes(name))
  const ignored = names.filter((name) => IGNORED.includes(name))
  const unknownCount = names.length - ignored.length
  // `schema=public` of Prisma names the schema that the service uses anyway.
  const listed = ignored.filter((name) => name !== 'schema' || query.get(name) !== 'public')
  return unknownCount > 0 ? [...listed, `${unknownCount} unknown`] : listed
}

/** Reads the hosts and ports of the authority. The parameters `host` and `port` have priority. One port is the port of all hosts. */
function readServers(authority: string, query: ReadonlyMap<string, string>): DatabaseUrl['servers'] {
  const entries = authority.split(',').map((entry) => {
    const { host = '', port } =
      HOST_PATTERN.exec(entry)?.groups ?? fail('a host', `is invalid: ${PERCENT_ENCODE}`)
    return { host: decode('a host', host.replace(/^\[(.*)\]$/, '$1')), port }
  })
  const hosts = query.get('host')?.split(',') ?? entries.map(({ host }) => host)
  const ports = query.get('port')?.split(',') ?? entries.map(({ port }) => port)
  if (ports.length > 1 && ports.length !== hosts.length) fail('port', 'must have one port for each host')
  const serverAt = (host: string, index: number): Server => ({
    host: host || 'localhost',
    port: readPort((ports.length > 1 ? ports[index] : ports[0]) || DEFAULT_PORT),
  })
  const [first = '', ...others] = hosts
  return [serverAt(first, 0), ...others.map((host, index) => serverAt(host, index + 1))]
}

function readPort(text: string) {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535)
    fail('port', `must be an integer from 1 to 65535. If the port is correct, ${PERCENT_ENCODE}`)
  return port
}

function decode(name: string, text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return fail(name, `contains an invalid percent-encoding: ${PERCENT_ENCODE}`)
  }
}

/** Returns the option `ssl` of postgres.js. Empty without a parameter about TLS. */
function readTls(
  query: ReadonlyMap<string, string>,
  servers: readonly Server[],
): Pick<DatabaseUrl['driver'], 'ssl'> {
  const mode = readSslMode(query)
  const files = FILE_PARAMETERS.flatMap((name) => {
    const file = query.get(name)
    return file && file !== 'system' ? [[name, file] as const] : []
  })
  const isDirect = query.get('sslnegotiation') === 'direct'
  if (mode === undefined && files.length === 0 && !isDirect) return {}
  // PostgreSQL does not support TLS over a Unix socket.
  if (mode === 'disable' || servers.every(({ host }) => host.startsWith('/'))) return { ssl: false }
  // pg-connection-string does not support the connection without TLS to a server that has no TLS.
  if (mode === 'prefer') return { ssl: mode }
  const verifiesNames = mode === undefined || mode === 'verify-full'
  if (verifiesNames && servers.length > 1 && servers.some(({ host }) => isIP(host)))
    fail('sslmode', 'verify-full cannot verify several IP addresses: use host names, or verify-ca')
  const ssl = parseTls(
    new URLSearchParams({ ...Object.fromEntries(files), ...(mode !== undefined && { sslmode: mode }) }),
  )
  // Node.js compares the certificate with the host name that the driver sends in the TLS handshake. The driver sends no
  // IP address, so the address must be an option.
  return { ssl: servers.length === 1 ? { ...ssl, host: servers[0]?.host } : ssl }
}

/** Reads the `sslmode` of libpq from the parameters `sslmode` and `ssl`. */
function readSslMode(query: ReadonlyMap<string, string>) {
  if (query.get('sslrootcert') === 'system') return 'verify-full'
  const [sslmode, ssl] = ['sslmode', 'ssl'].map((name) => {
    const value = query.get(name)
    if (value === undefined) return undefined
    return (
      SSL_MODES.get(value) ?? fail(name, 'must be disable, allow, prefer, require, verify-ca or verify-full')
    )
  })
  const requiresTls = (mode: string) => mode !== 'disable' && mode !== 'prefer'
  if (sslmode && ssl && requiresTls(sslmode) !== requiresTls(ssl)) fail('ssl', 'contradicts sslmode')
  if (sslmode === 'verify-ca' && !query.get('sslrootcert'))
    fail('sslmode', 'verify-ca requires sslrootcert, the file with the certificate of the authority')
  return sslmode ?? ssl
}

function parseTls(parameters: URLSearchParams) {
  try {
    const { ssl } = parse(`postgres://localhost/?${parameters.toString()}`, { useLibpqCompat: true })
    return typeof ssl === 'object' ? ssl : {}
  } catch (error) {
    const file = error instanceof Error && 'path' in error ? error.path : undefined
    return fail(
      FILE_PARAMETERS.find((name) => parameters.get(name) === file) ?? 'sslmode',
      'names a file that cannot be read',
    )
  }
}

const omitEmpty = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }

function fail(name: string, problem: string): never {
  throw new Error(`${name}: ${problem}`)
}
