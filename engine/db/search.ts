import { type AnyColumn, ilike, or, sql } from 'drizzle-orm'

/**
 * Condition: one of the columns contains the text in the placeholder `pattern`. The locale of the database defines which
 * letters differ only in case: with the locale C, only the letters of ASCII. PostgreSQL reads all rows that the other
 * conditions select, unless the columns have indexes of the extension pg_trgm.
 */
export const containsText = (...columns: AnyColumn[]) =>
  or(...columns.map((column) => ilike(column, sql.placeholder('pattern'))))

/** Value for the placeholder of `containsText`. */
export const searchPattern = (text: string) => `%${text.replace(/[\\%_]/g, String.raw`\$&`)}%`
