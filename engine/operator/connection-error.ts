import { codeOf } from '../db/errors.ts'

/**
 * Maps error codes to the problem and, for some codes, the next step. The codes are SQLSTATEs of PostgreSQL, and codes
 * of Node.js and the mail client.
 */
const ADVICE: [codes: RegExp, advice: string][] = [
  [/^(28.*|EAUTH)$/, 'the server rejected the user name or the password'],
  [/^3D000$/, 'the database does not exist on the server: create it with createdb'],
  [/^53300$/, 'the server has no free connections: raise max_connections, or run fewer processes'],
  [
    /^08P01$/,
    'the server rejected the connection: if the address belongs to a connection pooler, set DATABASE_DIRECT_URL',
  ],
  [/^ERR_INVALID_URL$/, 'the address is not a valid URL: percent-encode special characters in the password'],
  [/^(ENOTFOUND|EDNS|EAI_.*)$/, 'the host name cannot be resolved: check the host in the address'],
  [
    /CERT|TLS|SSL/,
    'the TLS connection failed: check that the server supports TLS and has a trusted certificate',
  ],
  [
    /CONN|TIMEDOUT|TIMEOUT|HOST|NET|SOCKET/,
    'the server does not respond: check the address, and that the server is running',
  ],
]

/**
 * Describes a failed connection to a server. `setting` is the name of the setting that contains the address of the
 * server. Uses only the code of the error, because the message may contain parts of the address, including the
 * password.
 */
export function describeConnectionError(setting: string, error: unknown) {
  const code = codeOf(error)
  const [, advice = 'the connection failed'] = ADVICE.find(([codes]) => codes.test(code)) ?? []
  return `${setting}: ${advice} (${code || 'no code'})`
}
