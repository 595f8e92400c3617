import { DrizzleQueryError } from 'drizzle-orm/errors'
import { type DestinationStream, pino } from 'pino'

import { InvalidOutput } from '../output.ts'
import type { Settings } from '../settings.ts'

/** Characters of a log line. */
const MAX_LINE = 8000
/** Characters of a path in the log and in traces. */
export const MAX_PATH = 300
const MAX_FRAMES = 20
const MAX_NAME = 64
const MAX_CAUSES = 3
const MAX_ISSUES = 10
const FRAME = /^ +at .{1,300}$/

/** Classes of SQLSTATE whose messages name columns and constraints, and no values: class 22 repeats its input. */
const VALUE_FREE = /^(08|23|25|26|28|40|42|53|54|55|57|58)[0-9A-Z]{3}$/

/** Structured lines, on standard output by default. Nothing that a caller sent is in them, except for the path. */
export const createLog = (
  { logLevel, service, release }: Pick<Settings, 'logLevel' | 'service' | 'release'>,
  destination?: DestinationStream,
) =>
  pino(
    {
      level: logLevel,
      base: { service, release },
      serializers: { err: (error: unknown) => describeError(error) },
      hooks: { streamWrite: bound },
    },
    destination,
  )

interface Described {
  type: string
  code?: string
  message?: string
  stack?: string
  /** The places where an output breaks its contract, and the rules. */
  issues?: InvalidOutput['issues']
  cause?: Described
}

/**
 * Describes an error by its type, code and stack frames. A message may repeat what a caller sent, as those of JSON.parse
 * and of undici do: only messages of PostgreSQL that are free of values are described.
 */
export function describeError(error: unknown, depth = 0): Described {
  if (error instanceof DrizzleQueryError) return describeError(error.cause, depth)
  if (!(error instanceof Error)) return { type: typeof error }
  const { code } = error as { code?: unknown }
  const isCode = typeof code === 'string' && /^\w{1,64}$/.test(code)
  const stack = framesOf(error)
  return {
    type: error.name.slice(0, MAX_NAME),
    ...(isCode && { code }),
    ...(isCode && VALUE_FREE.test(code) && { message: error.message.slice(0, 300) }),
    ...(stack && { stack }),
    ...(error instanceof InvalidOutput && { issues: error.issues.slice(0, MAX_ISSUES) }),
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: describeError(error.cause, depth + 1) }),
  }
}

/** What precedes the message in a stack: the name of the error and, of errors of Node, the code. */
const HEADER = /^[\w$]*(?: \[\w+\])?(?:: )?/

/** The frames after the message, which may have lines that look like frames. None if the message was changed later. */
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

const bound = (line: string) =>
  line.length <= MAX_LINE
    ? line
    : `${JSON.stringify({ level: 50, time: Date.now(), msg: 'a log line was too long', length: line.length })}\n`
