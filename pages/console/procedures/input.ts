import { type Field, isRecord } from './schema.ts'

/**
 * The values of a form by the names of the fields. Fields of the kinds `boolean`, `choice`, `choices` and `json` have JSON
 * texts. Null for the value null, and undefined for an omitted field.
 */
export type Values = Readonly<Partial<Record<string, string | null>>>

/** An input, or the reason why the text is no JSON. `field` is undefined if the text is the whole input. */
export type ParsedInput =
  { isValid: true; input: unknown } | { isValid: false; field?: string; reason: string }

/** A problem of an input. */
export interface Issue {
  /** The name of the field at the top of the input. */
  field: string
  path: string
  message: string
}

export const toIssue = ({ path, message }: Pick<Issue, 'path' | 'message'>): Issue => ({
  field: path.split(/[.[]/, 1)[0] ?? '',
  path,
  message,
})

/** Returns the problem of a text that is no JSON. `text` says so in the language of the page. */
export const issuesOfJson = (parsed: ParsedInput, text: string): readonly Issue[] =>
  parsed.isValid
    ? []
    : [{ field: parsed.field ?? '', path: parsed.field ?? '', message: `${text} ${parsed.reason}` }]

/** Parses a JSON text. An empty text is no input. */
export function parseInput(text: string): ParsedInput {
  if (!text.trim()) return { isValid: true, input: undefined }
  try {
    return { isValid: true, input: JSON.parse(text) }
  } catch (error) {
    return { isValid: false, reason: error instanceof Error ? error.message : '' }
  }
}

/** Returns the input that the values of a form describe. Omits empty optional fields. */
export function toInput(fields: readonly Field[], values: Values): ParsedInput {
  const input: Record<string, unknown> = {}
  for (const field of fields) {
    const { name } = field
    const value = values[name]
    if (value === null) {
      input[name] = null
      continue
    }
    const text = value ?? ''
    if (text === '' && !(field.isRequired && field.kind === 'text')) continue
    const parsed = parseField(field, text)
    if (!parsed.isValid) return { ...parsed, field: name }
    input[name] = parsed.input
  }
  return { isValid: true, input: fields.length > 0 ? input : undefined }
}

function parseField({ kind }: Field, text: string): ParsedInput {
  if (kind === 'text' || kind === 'time') return { isValid: true, input: text }
  if (kind !== 'number') return parseInput(text)
  const number = Number(text)
  // The service reports a text that is no number.
  return { isValid: true, input: text.trim() && Number.isFinite(number) ? number : text }
}

/** Returns the values of a form for an input. Returns undefined if the form cannot show the input. */
export function toValues(fields: readonly Field[], input: unknown): Values | undefined {
  if (input === undefined) return {}
  if (!isRecord(input)) return undefined
  const values: Record<string, string | null> = {}
  for (const [name, value] of Object.entries(input)) {
    const field = fields.find((each) => each.name === name)
    if (!field || (value === null && !field.isNullable)) return undefined
    const shown = toText(field, value)
    if (shown === undefined) return undefined
    values[name] = shown
  }
  return values
}

function toText({ kind, choices }: Field, value: unknown) {
  if (value === null) return null
  if (kind === 'text' || kind === 'time') return typeof value === 'string' ? value : undefined
  if (kind === 'number')
    return typeof value === 'number' || typeof value === 'string' ? String(value) : undefined
  if (kind === 'boolean' && typeof value !== 'boolean') return undefined
  if (kind === 'choice' && !choices.includes(value)) return undefined
  if (kind === 'choices' && !isListOf(choices, value)) return undefined
  return JSON.stringify(value)
}

/** Whether a value is a list of different choices, in any order. */
const isListOf = (choices: readonly unknown[], value: unknown) =>
  Array.isArray(value) &&
  new Set(value).size === value.length &&
  value.every((each) => choices.includes(each))
