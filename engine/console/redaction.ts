import { isObject } from '@orpc/shared'

import { LiveEvents } from '../live-stream.ts'
import { toJsonValue } from '../output.ts'

/** Maximum length of a recorded input or output, in characters. */
const MAX_TEXT = 8192

/** The names of fields and columns with secrets, such as `accessToken`, `code_hash` or `apiKey`. */
const SECRETS = [
  /token|secret|password|cookie|authorization|hash|digest|^otp$/i,
  /^(code|key)$|[a-z](Code|Key)$|[_-](code|key)$/,
]

export const isSecretName = (name: string) => SECRETS.some((pattern) => pattern.test(name))

const REMOVED = '(removed)'

/** Replaces the values of fields with secrets. If all texts are secrets, replaces every text. */
function withoutSecrets(value: unknown, areTextsSecret: boolean): unknown {
  if (typeof value === 'string') return areTextsSecret ? REMOVED : value
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, areTextsSecret))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isSecretName(name) && member !== null ? REMOVED : withoutSecrets(member, areTextsSecret),
    ]),
  )
}

/**
 * Writes an input or an output as JSON without secrets, cut at a limit. Null without a value. `areTextsSecret`: the
 * procedure declares secrets in its output (`secrets` in engine/contract/meta.ts).
 */
export function describeValue(value: unknown, areTextsSecret: boolean): string | null {
  if (value === undefined) return null
  if (value instanceof LiveEvents || (isObject(value) && Symbol.asyncIterator in value)) return '"(a stream)"'
  return JSON.stringify(withoutSecrets(toJsonValue(value), areTextsSecret)).slice(0, MAX_TEXT)
}
