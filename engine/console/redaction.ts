import { isAsyncIteratorObject } from '@orpc/shared'

import { REMOVED } from './bounds.ts'
import { toJsonValue } from '../values/output.ts'

/** Maximum length of a recorded input or output, in characters. */
const MAX_RECORDED = 8192

/** A name with one of these parts is the name of a secret: `accessToken`, `code_hash`, `apikeys`. */
const SECRET_PARTS =
  /token|secret|passw|passphrase|cookie|authorization|credential|hash|digest|signature|verifier|jwt|(pass|private|api|access)(code|key)/i

/** A name with one of these words at its end is the name of a secret: `signInOtp`, `API_KEY`, but not `keyboard`. */
const SECRET_ENDS = new Set(['code', 'codes', 'key', 'keys', 'otp', 'pin'])

/** Matches between the words of a name, in `snake_case`, `kebab-case` and `camelCase`. */
const BETWEEN_WORDS = /[_-]|(?<=[a-z\d])(?=[A-Z])/

/** Whether a field or a column has the name of a secret. */
export function isSecretName(name: string) {
  const lastWord = name.split(BETWEEN_WORDS).at(-1)?.toLowerCase() ?? ''
  return SECRET_PARTS.test(name) || SECRET_ENDS.has(lastWord)
}

/**
 * Returns the replacer of JSON.stringify that removes the values of fields with secrets. If all texts are secrets, removes
 * every text. The replacer sees all objects as JSON shows them, with the fields of classes and the results of `toJSON`.
 */
const withoutSecrets = (areTextsSecret: boolean) => (name: string, value: unknown) => {
  const isSecret = typeof value === 'string' && areTextsSecret
  return isSecret || (isSecretName(name) && value !== null && value !== undefined) ? REMOVED : value
}

/**
 * Writes an input or an output as JSON without secrets, cut at a limit. Null without a value. `areTextsSecret`: the
 * procedure declares secrets in its output (`secrets` in engine/contract/meta.ts).
 */
export function describeValue(value: unknown, areTextsSecret: boolean): string | null {
  if (value === undefined) return null
  if (isAsyncIteratorObject(value)) return '"(a stream)"'
  try {
    return JSON.stringify(toJsonValue(value), withoutSecrets(areTextsSecret)).slice(0, MAX_RECORDED)
  } catch {
    // For example a cycle in an output that violates its contract.
    return '"(a value that JSON cannot represent)"'
  }
}

/** The texts of a JSON value, as JSON writes them. The second group is the colon after the name of a field. */
const JSON_TEXTS = /("(?:[^"\\]|\\.)*")(\s*:)?/g

/** Returns the text of a JSON value, or the value without secrets if a field has the name of a secret. */
export function withoutSecretFields(text: string) {
  // An unchanged text keeps the format of PostgreSQL, and long numbers, which JSON.parse would round.
  const names = [...text.matchAll(JSON_TEXTS)].flatMap(([, name = '', colon]) =>
    colon === undefined ? [] : String(JSON.parse(name)),
  )
  return names.some(isSecretName) ? JSON.stringify(JSON.parse(text), withoutSecrets(false)) : text
}
