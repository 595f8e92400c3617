import { adviceForMessage } from '../connection/connection-errors.ts'
import { codeOf, toErrorMessage } from '../errors.ts'
import {
  countLineBreaks,
  type Migration,
  MigrationError,
  type Statement,
  withoutLeadingComments,
} from './migration-files.ts'

/** The table, column, constraint, type, function or schema of a migration exists already. */
const EXISTS = /^42(P06|P07|701|710|723)$/

/** Maximum length of a statement in a message, in lines. */
const MAX_LINES = 6

/** Describes a failed migration for the terminal. Returns errors of this kind unchanged. */
export function toMigrationError(
  error: unknown,
  { name }: Pick<Migration, 'name'>,
  statement?: Statement,
): MigrationError {
  if (error instanceof MigrationError) return error
  const message = toErrorMessage(error)
  const place = statement ? `, line ${statement.line + linesBefore(error, statement)}` : ''
  const lines = [`Migration ${name}${place}: ${message}`, ...(statement ? excerptOf(statement) : [])]
  const advice = EXISTS.test(codeOf(error)) ? RESET_ADVICE : adviceForMessage(message)
  return new MigrationError([...lines, ...(advice === undefined ? [] : [advice])].join('\n'), {
    cause: error,
  })
}

const RESET_ADVICE =
  'The database has been changed by migrations that are not in the folder of the migrations any more, or by hand. To start again with an empty database of development, run: tallystick reset'

/** Returns the lines from the beginning of a text to the place of the error. By default, that is the first word of SQL. */
function linesBefore(error: unknown, { text }: Statement) {
  // PostgreSQL counts the characters of `position` from 1.
  const index =
    error instanceof Error && 'position' in error && Number(error.position) > 0
      ? Number(error.position) - 1
      : text.length - withoutLeadingComments(text).length
  return countLineBreaks(text.slice(0, index))
}

function excerptOf({ text }: Statement) {
  const lines = withoutLeadingComments(text).split('\n')
  const shown = lines.slice(0, MAX_LINES).map((line) => `  ${line}`)
  return lines.length > MAX_LINES ? [...shown, '  …'] : shown
}
