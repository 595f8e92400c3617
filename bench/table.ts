type Row = (string | number)[]

/** Formats a table in Markdown. Columns of numbers are aligned to the right. */
export const table = (head: string[], rows: Row[]) =>
  [head, head.map((_, index) => (rows.every((row) => /^\d/.test(String(row[index]))) ? '-:' : '-')), ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')

/** Formats the properties of an object as a list in Markdown. */
export const properties = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([name, value]) => `- ${name}: ${value}`)
    .join('\n')

export const whole = (value: number) => Math.round(value).toLocaleString('en')
export const fixed = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
export const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`
