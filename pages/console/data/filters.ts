import type { Filter, RowsRequest } from '../../../engine/console/contract.ts'

/** The rows that an address selects: `#/data/tasks?is.status=pending&sort=-title&page=2`. */
export interface Selection {
  filters: Filter[]
  /** From 0. */
  page: number
  sort?: RowsRequest['sort']
}

export const operators = ['is', 'contains'] satisfies Filter['operator'][]

/** Reads the selection from the query of an address. The pages in the address are from 1. */
export function parseSelection(query: URLSearchParams): Selection {
  const filters = [...query].flatMap(([key, value]) => {
    const operator = operators.find((each) => key.startsWith(`${each}.`))
    return operator ? [{ column: key.slice(operator.length + 1), operator, value }] : []
  })
  const page = Number(query.get('page') ?? 1) - 1
  const sort = query.get('sort')
  return {
    filters,
    page: Number.isInteger(page) && page > 0 ? page : 0,
    ...(sort && { sort: { column: sort.replace(/^-/, ''), isDescending: sort.startsWith('-') } }),
  }
}

/** Writes a selection as the query of an address. */
export function toQuery({ filters, page, sort }: Selection) {
  const query = new URLSearchParams()
  for (const { column, operator, value } of filters) query.append(`${operator}.${column}`, value)
  if (sort) query.set('sort', `${sort.isDescending ? '-' : ''}${sort.column}`)
  if (page > 0) query.set('page', String(page + 1))
  return query
}
