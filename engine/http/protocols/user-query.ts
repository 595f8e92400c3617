import { z } from 'zod'
import { MAX_EMAIL, text } from 'tallystick-contract'

/** Maximum number of users in one answer. Without `limit`, better-auth returns at most 100 users. */
const MAX_USERS = 1000

const Text = text({ max: MAX_EMAIL })
const texts = ['id', 'name', 'email', 'role', 'banReason'] as const
const flags = ['emailVerified', 'banned'] as const
const times = ['createdAt', 'updatedAt', 'banExpires'] as const

/** Operators that compare with a pattern of SQL `like`. */
const patterns = ['contains', 'starts_with', 'ends_with'] as const
/** Operators that accept several values, with the operator for one value. */
const lists = { in: 'eq', not_in: 'ne' } as const

const Query = z
  .object({
    limit: z.string().regex(/^([1-9]\d{0,2}|1000)$/, `Must be a whole number from 1 to ${MAX_USERS}`),
    offset: z.string().regex(/^\d{1,9}$/, 'Must be a whole number'),
    sortBy: z.enum([...texts, ...flags, ...times]),
    sortDirection: z.enum(['asc', 'desc']),
    searchField: z.enum(['email', 'name']),
    searchOperator: z.enum(patterns),
    searchValue: Text,
    // Without times: better-auth cannot compare a time with a parameter of a URL, and would return an empty list.
    filterField: z.enum([...texts, ...flags]),
    filterOperator: z.enum(['eq', 'ne', 'lt', 'lte', 'gt', 'gte', ...patterns, 'in', 'not_in']),
    filterValue: z.union([Text, z.array(Text)]),
  })
  .partial()
  .catchall(z.undefined('Is not a parameter of this operation'))
type Query = z.infer<typeof Query>

/**
 * The query of `/admin/list-users`: the parameters of better-auth. Rejects values that better-auth would ignore or
 * answer with an empty list.
 */
export const UserQuery = Query.superRefine(checkFilter).transform(
  ({ searchValue, filterOperator = 'eq', filterValue, ...query }) => ({
    ...query,
    ...(searchValue !== undefined && { searchValue: escapePattern(searchValue) }),
    ...(filterValue !== undefined && toFilter(filterOperator, filterValue)),
  }),
)

/** Checks that the value of a filter fits the field and the operator. The defaults are the defaults of better-auth. */
function checkFilter(query: Query, context: z.core.$RefinementCtx) {
  const { filterField, filterOperator = 'eq', filterValue } = query
  const isFlag = isOneOf(flags, filterField)
  const problems = {
    'Must be given, because filterField or filterOperator is given':
      filterValue === undefined && (filterField ?? query.filterOperator) !== undefined,
    'Must be one value, or the operator must be in or not_in':
      Array.isArray(filterValue) && !(filterOperator in lists),
    'Must be true or false, and the operator eq or ne':
      isFlag && !(isOneOf(['eq', 'ne'], filterOperator) && isOneOf(['true', 'false'], filterValue)),
  }
  for (const [message, applies] of Object.entries(problems))
    if (applies) context.addIssue({ code: 'custom', path: ['filterValue'], message })
}

const isOneOf = (values: readonly unknown[], value: unknown) => values.includes(value)

/** Converts a filter to parameters of better-auth, which accepts `in` and `not_in` only with several values. */
function toFilter(operator: NonNullable<Query['filterOperator']>, value: string | string[]) {
  if (typeof value !== 'string') return { filterOperator: operator, filterValue: value }
  return {
    filterOperator: operator === 'in' || operator === 'not_in' ? lists[operator] : operator,
    filterValue: isOneOf(patterns, operator) ? escapePattern(value) : value,
  }
}

/** Escapes the wildcards of SQL `like`, because better-auth does not escape them. */
const escapePattern = (value: string) => value.replace(/[\\%_]/g, '\\$&')
