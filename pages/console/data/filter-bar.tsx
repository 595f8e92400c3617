import { useState } from 'react'

import { MAX_FILTERS } from '../../../engine/console/bounds.ts'
import type { Filter, Table } from '../../../engine/console/data/data-contract.ts'
import { operators } from './filters.ts'
import { TextField } from '../text-field.tsx'

interface Props {
  table: Table
  filters: readonly Filter[]
  onChange: (filters: Filter[]) => void
}

/** The filters of the rows, and a form that adds a filter. */
export function FilterBar({ table, filters, onChange }: Props) {
  const columns = table.columns.filter(({ isHidden, isJson }) => !isHidden && !isJson)
  const texts = columns.filter(({ type }) => /^(text|character varying|varchar)/.test(type))
  const first = texts.find(({ references }) => !references) ?? texts[0] ?? columns[0]
  const [column, setColumn] = useState(first?.name ?? '')
  const [operator, setOperator] = useState<Filter['operator']>('contains')
  const [value, setValue] = useState('')
  const hasValue = operator !== 'is empty'
  return (
    <>
      <form
        className="row end filter"
        aria-label="Add a filter"
        onSubmit={(event) => {
          event.preventDefault()
          onChange([...filters, { column, operator, value: hasValue ? value : '' }])
          setValue('')
        }}
      >
        <label>
          Column
          <select
            value={column}
            onChange={({ target }) => {
              setColumn(target.value)
            }}
          >
            {columns.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Operator
          <select
            value={operator}
            onChange={({ target }) => {
              setOperator(operators.find((each) => each === target.value) ?? 'is')
            }}
          >
            {operators.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {hasValue && <TextField label="Value" value={value} onChange={setValue} />}
        <button type="submit" className="secondary" disabled={filters.length >= MAX_FILTERS}>
          Add filter
        </button>
      </form>
      {filters.length > 0 && (
        <ul className="row chips" aria-label="Filters">
          {filters.map((filter, index) => (
            <li key={index}>
              <span>
                {filter.column} {filter.operator}{' '}
                {filter.operator !== 'is empty' && <strong>{filter.value || '(empty)'}</strong>}
              </span>
              <button
                type="button"
                className="secondary"
                aria-label={`Remove the filter ${filter.column} ${filter.operator} ${filter.value}`}
                onClick={() => {
                  onChange(filters.filter((each) => each !== filter))
                }}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
