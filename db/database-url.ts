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
    ssl: boolean | object | 'prefer'
    sslnegotiation?: 'direct'
  }
  /** Parameters that a connection sends at its start. */
  startup: { application_name?: string; options?: string }
  /** Names of the parameters that have no effect. */
  ignored: string[]
}

/** Scheme, user name and password, hosts, path, query. */
const FORM = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)([^?#]*)(?:\?([^#]*))?$/
const HOST = /^(\[[^\]]+\]|[^:]*)(?::(.*))?$/
const DEFAULT_PORT = '5432'

const FILES = ['sslrootcert', 'sslcert', 'sslkey']
const USED = new Set([
  ...['host', 'port', 'user', 'password', 'dbname'],
  ...['ssl', 'sslmode', 'uselibpqcompat', 'sslnegotiation', ...FILES],
  ...['application_name', 'options'],
])

/** Values of `sslmode`, and of `ssl`, and the mode of libpq with the same meaning. */
const MODES: Record<string, string> = {
  ...{ false: 'disable', 0: 'disable', disable: 'disable' },
  ...{ allow: 'prefer', prefer: 'prefer' },
  ...{ require: 'require', 'no-verify': 'require', 'verify-ca': 'verify-ca' },
  ...{ true: 'verify-full', 1: 'verify-full', 'verify-full': 'verify-full' },
}

const PERCENT_ENCODE = 'percent-encode / ? # @ : in the user name and the password'

/**
 * Parses the URL of a PostgreSQL server, or of several servers of one cluster (`a:5432,b:5432`), with the parameters of
 * libpq. Reads the files of the parameters `sslrootcert`, `sslcert` and `sslkey`. The messages of errors name the
 * parameter, and never contain the URL, because the URL can contain a password.
 */
export function parseDatabaseUrl(url: string): DatabaseUrl {
  const [, scheme = '', credentials = '', hosts = '', path = '', search = ''] = FORM.exec(url) ?? []
  if (!scheme)
    throw new Error(`Must be a URL such as postgres://user:password@host/database: ${PERCENT_ENCODE}`)
  const query = new URLSearchParams(search)
  const servers = query.has('host') ? readHostParameter(query) : readHosts(hosts, query)
  const names = new Set(query.keys())
  const ssl = readMode(query)
  const config = parseForOneHost(`${scheme}${credentials && `${credentials}@`}localhost`, path, query)
  const { database, user, password: pass, application_name, options } = config
  const isLocal = servers.every(({ host }) => host.startsWith('/'))
  return {
    servers,
    driver: {
      ...defined({ database, user, pass }),
      // PostgreSQL does not support TLS over a Unix socket.
      ssl: isLocal ? false : (ssl ?? verifyHost(config.ssl, servers)),
      ...(config.sslnegotiation === 'direct' && { sslnegotiation: 'direct' }),
    },
    startup: defined({ application_name, options }),
    ignored: [...names].filter((name) => !USED.has(name) && !isTheOnlySchema(name, query)),
  }
}

/** Returns the argument of `socket.connect` for a server. */
export const socketAddress = ({ host, port }: Server) =>
  host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }

const isTheOnlySchema = (name: string, query: URLSearchParams) =>
  name === 'schema' && query.get(name) === 'public'

/** Reads the hosts of the authority. The parameter `port` is the port of hosts without a port. */
function readHosts(hosts: string, query: URLSearchParams): DatabaseUrl['servers'] {
  const [first = '', ...others] = hosts.split(',')
  const read = (entry: string): Server => {
    const [, host = '', port = query.get('port') ?? DEFAULT_PORT] =
      HOST.exec(entry) ?? fail('a host', PERCENT_ENCODE)
    const name = decode(host.replace(/^\[(.*)\]$/, '$1'))
    return { host: name || 'localhost', port: readPort(port) }
  }
  return [read(first), ...others.map(read)]
}

/** Reads the parameters `host` and `port`. One port is the port of all hosts. */
function readHostParameter(query: URLSearchParams): DatabaseUrl['servers'] {
  const [first = '', ...others] = query.getAll('host').join(',').split(',')
  const ports = (query.get('port') ?? DEFAULT_PORT).split(',').map(readPort)
  if (ports.length > 1 && ports.length !== others.length + 1) fail('port', 'must have one port for each host')
  const portAt = (index: number) => ports[index] ?? ports[0] ?? Number(DEFAULT_PORT)
  const read = (host: string, index: number): Server => ({ host: host || 'localhost', port: portAt(index) })
  return [read(first, 0), ...others.map((host, index) => read(host, index + 1))]
}

function readPort(text: string) {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535)
    fail('port', `must be an integer from 1 to 65535. If the port is correct, ${PERCENT_ENCODE}`)
  return port
}

function decode(text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return fail('a host', 'contains an invalid percent-encoding')
  }
}

/**
 * Replaces `ssl` and `sslmode` by a mode of libpq that pg-connection-string supports. Returns the option of postgres.js
 * for modes that pg-connection-string does not support: `prefer` connects without TLS if the server has no TLS.
 */
function readMode(query: URLSearchParams) {
  const name = query.has('sslmode') ? 'sslmode' : 'ssl'
  const value = query.get(name)
  query.delete('ssl')
  query.delete('uselibpqcompat')
  if (query.get('sslrootcert') === 'system') {
    query.delete('sslrootcert')
    query.set('sslmode', 'verify-full')
    return undefined
  }
  if (value === null) return undefined
  const mode = MODES[value] ?? fail(name, 'must be disable, allow, prefer, require, verify-ca or verify-full')
  if (mode === 'verify-ca' && !query.has('sslrootcert'))
    fail('sslmode', 'verify-ca requires sslrootcert, the file with the certificate of the authority')
  query.set('sslmode', mode)
  return mode === 'prefer' ? mode : undefined
}

function parseForOneHost(origin: string, path: string, query: URLSearchParams) {
  const rest = new URLSearchParams([...query].filter(([name]) => !['host', 'port', 'dbname'].includes(name)))
  const database = query.get('dbname')
  try {
    return parse(
      `${origin}${database === null ? path : `/${encodeURIComponent(database)}`}?${rest.toString()}`,
      {
        useLibpqCompat: true,
      },
    )
  } catch (error) {
    const file = error instanceof Error && 'path' in error ? error.path : undefined
    const name = FILES.find((each) => query.get(each) === file)
    return name
      ? fail(name, 'names a file that cannot be read')
      : fail('the URL', `is invalid: ${PERCENT_ENCODE}`)
  }
}

/**
 * Node.js compares the certificate with the host name that the driver sends in the TLS handshake. The driver sends no
 * IP address, so an IP address must be an option.
 */
const verifyHost = (ssl: string | boolean | object | undefined, servers: DatabaseUrl['servers']) => {
  if (typeof ssl !== 'object') return ssl === true
  return servers.length === 1 ? { ...ssl, host: servers[0].host } : ssl
}

const defined = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }

function fail(name: string, problem: string): never {
  throw new Error(`${name}: ${problem}`)
}
