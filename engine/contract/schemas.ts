import * as z from 'zod'
import { $ZodRegistry } from 'zod/v4/core'

/**
 * A registry that keeps all schemas with a name, so that defineApp finds two schemas with one name. Not `z.core.$ZodRegistry`:
 * bundles would then contain all of `z.core`.
 */
class NamedSchemas<Meta extends { id: string; example: unknown }> extends $ZodRegistry<Meta> {
  readonly all: { name: string; schema: z.core.$ZodType; example: unknown }[] = []

  override add(...given: Parameters<$ZodRegistry<Meta>['add']>) {
    const [schema, meta] = given
    if (meta) this.all.push({ name: meta.id, schema, example: meta.example })
    return super.add(...given)
  }
}

/**
 * The schemas of answers that the OpenAPI document publishes as components, each with its name and an example.
 *
 * @example
 * const Loan = z.object({ id: z.int() }).register(responseSchemas, { id: 'Loan', example: { id: 7 } })
 */
export const responseSchemas = new NamedSchemas<{ id: string; example: z.core.$output }>()
/**
 * The schemas of inputs that the OpenAPI document publishes as components, each with its name and an example.
 *
 * @example
 * const CreateLoan = z.object({ bookId: RowId }).register(requestSchemas, { id: 'CreateLoan', example: { bookId: 7 } })
 */
export const requestSchemas = new NamedSchemas<{ id: string; example: z.core.$input }>()

// PostgreSQL stores neither NUL nor lone surrogates. JSON strings can contain both.
const unstorable = /[\0\p{Surrogate}]/u

/** Characters that show nothing: white space, ignorable and format characters, and the blank Braille pattern and filler. */
const invisible = '[\\s\\p{Default_Ignorable_Code_Point}\\p{Cf}\\u2800\\u3164]'
const blankStart = new RegExp(`^${invisible}+`, 'u')

/**
 * Removes the characters that show nothing from the start of a text: `trimInvisibleStart('\u200B Milk')` is `'Milk'`. A blank text
 * becomes empty.
 */
export const trimInvisibleStart = (value: string) => value.replace(blankStart, '')

/** Returns whether a text contains only characters that show nothing: `isBlank('\u200B ')` is true. */
export const isBlank = (value: string) => trimInvisibleStart(value) === ''

interface TextBounds {
  min?: number
  max?: number
  schema?: z.ZodString
}

/**
 * Schema of a text that the database can store. `min` and `max` are numbers of code points, as in JSON Schema, and are
 * published as JSON Schema keywords. Counting code points is slow, so the schema counts only if `value.length` is not
 * sufficient: a code point has one or two UTF-16 code units.
 *
 * @example
 * const CreateBook = z.object({ title: text({ min: 1, max: 200 }) })
 */
export const text = ({ min = 0, max = Infinity, schema = z.string() }: TextBounds = {}) =>
  schema
    .refine((value) => !unstorable.test(value), 'Contains a character that cannot be stored')
    .refine(
      (value) => value.length >= 2 * min || countCodePoints(value) >= min,
      `Must have at least ${min} character${min === 1 ? '' : 's'}`,
    )
    .refine(
      (value) => value.length <= max || (value.length <= 2 * max && countCodePoints(value) <= max),
      `Must have at most ${max} characters`,
    )
    .meta({ ...(min > 0 && { minLength: min }), ...(max < Infinity && { maxLength: max }) })

const countCodePoints = (value: string) => Array.from(value).length

/** Rejects leading zeros, so that every number has exactly one notation. */
const isDigits = (value: unknown) => typeof value === 'string' && /^(0|[1-9]\d*)$/.test(value)
/** Rejects numbers with an exponent in their decimal notation, such as 1e21. */
const isCount = (value: unknown) => typeof value === 'number' && isDigits(String(value))

/**
 * A non-negative integer. In URLs, the value is a string of decimal digits. Integers beyond the safe range become the
 * largest safe integer.
 */
const WholeNumber = z
  .custom<number>((value) => isDigits(value) || isCount(value), 'Must be a whole number')
  .transform((value: number | string) => Math.min(Number(value), Number.MAX_SAFE_INTEGER))
  .meta({ type: 'integer', minimum: 0 })

/**
 * The id of a row. If no row has the id, the input is still valid, and the response is 404.
 *
 * @example
 * const CreateLoan = z.object({ bookId: RowId })
 */
export const RowId = WholeNumber.meta({ examples: [7] })

/** The input of a procedure for one item: `.route({ path: '/api/loans/{id}' }).input(ById)`. */
export const ById = z.object({ id: RowId })

/** Maximum and default number of rows in a page. */
export const MAX_LIMIT = 1000

const limitSchema = { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: MAX_LIMIT } as const

/**
 * The query parameters that select a page of a list.
 *
 * @example
 * reading.input(Page.optional()).output(LoanList)
 */
export const Page = z.object({
  limit: WholeNumber.pipe(z.number().min(limitSchema.minimum).max(limitSchema.maximum))
    .meta({
      ...limitSchema,
      description: 'Maximum number of items. A page has fewer items if their texts exceed 1 MiB.',
      examples: [100],
    })
    .optional(),
  cursor: z
    .string()
    .regex(/^[\w-]{1,400}$/, 'Must be a cursor')
    .meta({
      description:
        'Position of the page: the cursor from `Link` or `nextCursor` of the previous response. The example is the position before the first item of every list.',
      examples: ['OTk5OTk5OTk5OTk5OS4x'],
    })
    .optional(),
})
export type Page = z.infer<typeof Page>

/** Maximum length of the text of a search, in code points. */
const MAX_SEARCH = 100

/**
 * The query parameter that searches a list.
 *
 * @example
 * reading.input(Page.extend(Search.shape).optional()).output(LoanList)
 */
export const Search = z.object({
  q: text({ max: MAX_SEARCH })
    .meta({
      description:
        'Only items with this text in one of their texts. The letter case does not matter. An empty text selects all items. A search that takes longer than a second is refused: 400 `SEARCH_TOO_LONG`.',
      examples: ['Milk'],
    })
    .optional(),
})
export type Search = z.infer<typeof Search>

export const IdempotencyKey = z.string().regex(/^[!-~]{1,255}$/, 'Must be 1 to 255 visible ASCII characters')

/** Unix time in seconds: `z.object({ createdAt: Timestamp })`. */
export const Timestamp = z.int().describe('Unix time in seconds')

/** The answer of a procedure that returns nothing else: `.output(Success)`, and `return { success: true }`. */
export const Success = z
  .object({ success: z.boolean() })
  .register(responseSchemas, { id: 'Success', example: { success: true } })
