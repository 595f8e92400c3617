import type { Filter, RowsRequest } from '../../../engine/console/data/data-contract.ts'

/** The rows that an address selects, and the open row: `#/data/tasks?is.status=pending&sort=-title&page=2&row=7`. */
export interface Selection {
  filters: Filter[]
  /** From 0. */
  page: number
  sort?: RowsRequest['sort']
  /** The primary key of the open row. */
  row?: string[]
}

export const operators = [
  'is',
  'is not',
  'contains',
  'greater than',
  'less than',
  'is empty',
] satisfies Filter['operator'][]

/** Writes an operator in an address: `is-not`. */
const toWord = (operator: Filter['operator']) => operator.replace(' ', '-')

/** Reads the selection from the query of an address. The pages in the address are from 1. */
export function parseSelection(query: URLSearchParams): Selection {
  const filters = [...query].flatMap(([key, value]) => {
    const operator = operators.find((each) => key.startsWith(`${toWord(each)}.`))
    return operator ? [{ column: key.slice(toWord(operator).length + 1), operator, value }] : []
  })
  const page = Number(query.get('page') ?? 1) - 1
  const sort = query.get('sort')
  const row = query.getAll('row')
  return {
    filters,
    page: Number.isInteger(page) && page > 0 ? page : 0,
    ...(row.length > 0 && { row }),
    ...(sort && { sort: { column: sort.replace(/^-/, ''), isDescending: sort.startsWith('-') } }),
  }
}

/** Writes a selection as the query of an address. */
export function toQuery({ filters, page, sort, row = [] }: Selection) {
  const query = new URLSearchParams()
  for (const { column, operator, value } of filters) query.append(`${toWord(operator)}.${column}`, value)
  if (sort) query.set('sort', `${sort.isDescending ? '-' : ''}${sort.column}`)
  if (page > 0) query.set('page', String(page + 1))
  for (const value of row) query.append('row', value)
  return query
}
