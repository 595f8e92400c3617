import { codeOf } from '../../db/errors.ts'

/** What failures to reach a server mean, by the database's SQLSTATE or the connection's code. */
const ADVICE: [codes: RegExp, advice: string][] = [
  [/^(28.*|EAUTH)$/, 'the server refuses the user or the password'],
  [/^3D000$/, 'the server has no such database: createdb makes one'],
  [/^53300$/, 'the server has no connection left: raise max_connections, or run fewer processes'],
  [/^ERR_INVALID_URL$/, 'the address cannot be read: a password in it must be percent-encoded'],
  [/^(ENOTFOUND|EDNS|EAI_.*)$/, 'there is no such host'],
  [/CERT|TLS|SSL/, 'the server is not trusted, or speaks no TLS: see its certificate'],
  [
    /CONN|TIMEDOUT|TIMEOUT|HOST|NET|SOCKET/,
    'nothing answers: is the server running, and is this its address?',
  ],
]

/** What to do about a server that a setting names and that cannot be used. */
export function describeConnectionError(setting: string, error: unknown) {
  const code = codeOf(error)
  const [, advice = 'the server cannot be used'] = ADVICE.find(([codes]) => codes.test(code)) ?? []
  return `${setting}: ${advice} (${code || 'no code'})`
}
