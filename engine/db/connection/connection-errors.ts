import { codeOf, toErrorMessage } from '../errors.ts'

/**
 * Maps error codes to the problem and, for some codes, the next step. The codes are SQLSTATEs of PostgreSQL, and codes
 * of Node.js and the mail client.
 */
const ADVICE_FOR_CODE: [codes: RegExp, advice: string][] = [
  [/^(28.*|EAUTH)$/, 'the server rejected the user name or the password'],
  [/^3D000$/, 'the database does not exist on the server: create it with createdb'],
  [/^53100$/, 'the disk of the server is full: free or add space'],
  [/^53300$/, 'the server has no free connections: raise max_connections, or run fewer processes'],
  [/^57P03$/, 'the server starts or stops: try again'],
  [
    /^08P01$/,
    'the server rejected the connection: if the address belongs to a connection pooler, set DATABASE_DIRECT_URL',
  ],
  [/^ERR_INVALID_URL$/, 'the address is not a valid URL: percent-encode special characters in the password'],
  [/^(ENOTFOUND|EDNS|EAI_.*)$/, 'the host name cannot be resolved: check the host in the address'],
  [
    /CERT|TLS|SSL|UNABLE_TO_VERIFY|EPROTO/,
    'the TLS connection failed: check that the server supports TLS and has a trusted certificate',
  ],
  [
    /^08|CONN|TIMEDOUT|TIMEOUT|HOST|NET|SOCKET|EPIPE/,
    'the server does not respond: check the address, and that the server is running',
  ],
]

/** Maps messages of errors at the start to the next step. */
const ADVICE_FOR_MESSAGE: [messages: RegExp, advice: string][] = [
  [
    /unsupported startup parameter/,
    'The address belongs to a connection pooler. Set DATABASE_DIRECT_URL to the address of PostgreSQL, and DATABASE_URL to the address of the pooler.',
  ],
  [
    /before secure TLS|no pg_hba\.conf entry/,
    'The server offers no TLS, or accepts only TLS from this host: check sslmode in the address, and pg_hba.conf of the server.',
  ],
  [
    /permission denied for (schema|database|table)/,
    'Migrations are pending, or their table cannot be read. Run tallystick migrate with a role that may create tables, and see docs/operation.md for the permissions of the role of the service.',
  ],
]

const findAdvice = (advice: [RegExp, string][], text: string) =>
  advice.find(([pattern]) => pattern.test(text))?.[1]

/** Returns the next step for the message of an error of PostgreSQL or of its driver. */
export const adviceForMessage = (message: string) => findAdvice(ADVICE_FOR_MESSAGE, message)

/**
 * Describes a failed connection to a server. `setting` is the name of the setting that contains the address of the server. Uses
 * only the code of the error, because the message may contain parts of the address, including the password.
 */
export function describeConnectionError(setting: string, error: unknown) {
  const code = codeOf(error)
  return `${setting}: ${findAdvice(ADVICE_FOR_CODE, code) ?? 'the connection failed'} (${code || 'no code'})`
}

/**
 * Describes an error of the start for the terminal, with the message of PostgreSQL or of its driver. The message contains no
 * password, because `parseDatabaseUrl` has accepted the URL. `setting` is the name of the setting with the address.
 */
export function describeStartError(setting: string, error: unknown) {
  const message = toErrorMessage(error)
  const advice = adviceForMessage(message)
  const problem = findAdvice(ADVICE_FOR_CODE, codeOf(error))
  const description =
    advice !== undefined
      ? `${message}\n${advice}`
      : problem !== undefined
        ? `${problem} (${message})`
        : message
  return new Error(`${setting}: ${description}`, { cause: error })
}
