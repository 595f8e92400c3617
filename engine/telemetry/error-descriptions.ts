import { ValidationError } from '@orpc/contract'
import { ORPCError } from '@orpc/server'
import { DrizzleQueryError } from 'drizzle-orm/errors'
import { BadRequestData, toPublicIssues } from 'tallystick-contract/internal'

import { InvalidOutput } from '../values/output.ts'

const MAX_FRAMES = 20
const MAX_MESSAGE = 300
const MAX_NAME = 64
const MAX_CAUSES = 3
const MAX_ISSUES = 10
const FRAME = /^ +at .{1,300}$/

/**
 * SQLSTATE classes of errors with safe messages: the messages contain names of columns and constraints, but no values.
 * Not included, because the messages contain values: class 22, and 42601, for example of a text search.
 */
const VALUE_FREE = /^(08|23|25|26|28|40|42(?!601)|53|54|55|57|58)[0-9A-Z]{3}$/

/** SQLSTATEs. Class P0 is not included, because its messages are texts of the application's own functions. */
const SQLSTATE = /^(?!P0)[0-9A-Z]{5}$/

/** What the log and the console show of an error. */
export interface ErrorDescription {
  type: string
  code?: string
  message?: string
  /** The text of a failed statement, without its parameters. */
  statement?: string
  stack?: string
  /** The paths at which an output violates its schema, and the violated rules. */
  issues?: InvalidOutput['issues']
  cause?: ErrorDescription
}

/**
 * Describes an error for production, by its type, code and stack frames. Omits most messages, because a message may contain the
 * caller's input (for example, messages of JSON.parse and undici). Includes messages of PostgreSQL that
 * contain no values, and other messages of PostgreSQL without their quoted parts and numbers.
 */
export function describeError(error: unknown, depth = 0, isOfStatement = false): ErrorDescription {
  if (error instanceof DrizzleQueryError) return describeError(error.cause, depth, true)
  if (!(error instanceof Error)) return { type: typeof error }
  const { code } = error as { code?: unknown }
  const isCode = typeof code === 'string' && /^\w{1,64}$/.test(code)
  const stack = framesOf(error)
  return {
    type: error.name.slice(0, MAX_NAME),
    ...(isCode && { code }),
    ...(isCode && messageOf(error, code, isOfStatement)),
    ...(stack && { stack }),
    ...(error instanceof InvalidOutput && { issues: error.issues.slice(0, MAX_ISSUES) }),
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: describeError(error.cause, depth + 1) }),
  }
}

const MAX_FULL_MESSAGE = 2000

/** Describes an error for a developer, with its message, and with the statement that failed. For use outside of production. */
export function describeFully(error: unknown, depth = 0): ErrorDescription {
  if (error instanceof DrizzleQueryError) {
    // The stack of the error, because the stack of its cause shows only the driver.
    const stack = framesOf(error)
    const statement = error.query.slice(0, MAX_FULL_MESSAGE)
    return { ...describeFully(error.cause, depth), statement, ...(stack && { stack }) }
  }
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { cause, message } = error
  return {
    // With the maximum depth, so that describeError adds no causes: their full descriptions follow.
    ...describeError(error, MAX_CAUSES),
    message: message.slice(0, MAX_FULL_MESSAGE),
    ...issuesOf(error),
    ...(cause !== undefined && depth < MAX_CAUSES && { cause: describeFully(cause, depth + 1) }),
  }
}

/** Returns the issues of a refused input: of the validation, or of code that refuses the input itself. */
function issuesOf(error: Error) {
  const issues =
    error instanceof ValidationError
      ? toPublicIssues(error.issues)
      : error instanceof ORPCError && BadRequestData.safeParse(error.data).data?.issues
  return issues ? { issues: issues.slice(0, MAX_ISSUES) } : undefined
}

/** Returns the message of an error if the message contains no value, or if its values can be removed. */
function messageOf({ message }: Error, code: string, isOfStatement: boolean) {
  if (VALUE_FREE.test(code)) return { message: message.slice(0, MAX_MESSAGE) }
  return isOfStatement && SQLSTATE.test(code) ? { message: withoutValues(message) } : undefined
}

const QUOTE = /["'«»„“”‘’‚‹›「」『』]/.source
const VALUES = new RegExp(`${QUOTE}.*${QUOTE}|${QUOTE}.*|\\b0x[\\da-f][\\da-fx ]*|\\d[\\d:.-]*`, 'gis')

/**
 * Replaces the quoted parts of a message, numbers, and the bytes of an invalid encoding. PostgreSQL quotes values in each
 * language, except numbers and dates.
 */
const withoutValues = (message: string) => message.replace(VALUES, '…').slice(0, MAX_MESSAGE)

/** Matches the part of a stack before the message: the name of the error and, for errors of Node, the code. */
const HEADER = /^[\w$]*(?: \[\w+\])?(?:: )?/

/**
 * Returns the stack frames after the message. Skips the message, because its lines may look like frames. Returns
 * undefined if the message was changed after the stack was captured, because the end of the message is then unknown.
 */
function framesOf({ stack = '', message }: Error) {
  const start = HEADER.exec(stack)?.[0].length ?? 0
  if (!stack.startsWith(`${message}\n`, start)) return undefined
  return stack
    .slice(start + message.length)
    .split('\n')
    .filter((line) => FRAME.test(line))
    .slice(0, MAX_FRAMES)
    .join('\n')
}
