import { useMutation } from '@tanstack/react-query'

import type { Export as Exported, Table } from '../../../engine/console/data/data-contract.ts'
import { client } from '../client.ts'
import type { Selection } from './filters.ts'
import { Problem } from '../problem.tsx'

type Format = 'csv' | 'json'

const names: Record<Format, string> = { csv: 'CSV', json: 'JSON' }

/** The beginning of a value that a spreadsheet would run as a formula. Numbers stay. */
const FORMULA = /^(?![-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$)[=+\-@\t\r]/i

const writers: Record<Format, (exported: Exported, table: Table) => string | Promise<string>> = {
  // Loaded on demand, because few people export.
  csv: async ({ columns, rows }) =>
    (await import('papaparse')).default.unparse(
      { fields: columns, data: rows },
      { quotes: true, escapeFormulae: FORMULA },
    ),
  json: ({ columns, rows }, table) => {
    const read = columns.map((column) => readerOf(table.columns.find(({ name }) => name === column)))
    const records = rows.map((row) =>
      Object.fromEntries<unknown>(
        row.map((value, index) => [columns[index] ?? '', value === null ? null : read[index]?.(value)]),
      ),
    )
    return JSON.stringify(records, null, 2)
  },
}

/** Returns the function that reads a value from PostgreSQL's text. `bigint` and `numeric` stay texts, because they can be longer than a number. */
function readerOf(column: Table['columns'][number] | undefined): (text: string) => unknown {
  if (column?.isJson) return parseJson
  if (/^(smallint|integer|real|double precision)$/.test(column?.type ?? '')) return toNumber
  return column?.type === 'boolean' ? (text) => text === 'true' : (text) => text
}

/** `NaN` and infinities are no numbers of JSON. */
const toNumber = (text: string) => (Number.isFinite(Number(text)) ? Number(text) : text)

/** A value that is too long is a note instead of JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Downloads the rows that match the filters, in their order. */
export function Export({ table, selection: { filters, sort } }: { table: Table; selection: Selection }) {
  const { mutate, data, error, isPending, variables } = useMutation({
    mutationFn: async (format: Format) => {
      const exported = await client.data.export({ table: table.name, filters, ...(sort && { sort }) })
      download(`${table.name}.${format}`, await writers[format](exported, table))
      return exported
    },
  })
  return (
    <>
      {(['csv', 'json'] as const).map((format) => (
        <button
          key={format}
          type="button"
          className="secondary"
          disabled={isPending}
          aria-busy={isPending && variables === format}
          aria-label={`Export as ${names[format]}`}
          onClick={() => {
            mutate(format)
          }}
        >
          {names[format]}
        </button>
      ))}
      <span role="status" className="muted">
        {data && describe(data)}
      </span>
      <Problem
        error={error}
        onRetry={() => {
          if (variables) mutate(variables)
        }}
      />
    </>
  )
}

const describe = ({ rows, isCut }: Exported) =>
  `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}${isCut ? ', not all: the export has a limit' : ''}`

function download(name: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // After the browser has begun the download.
  setTimeout(() => {
    URL.revokeObjectURL(url)
  }, 1000)
}
