import { styleText } from 'node:util'

import { terminalLine } from '../values/terminal.ts'
import type { ErrorDescription } from './error-descriptions.ts'

/** The fields that a line shows without their names, or not at all. */
const SHOWN = ['level', 'time', 'service', 'release', 'msg', 'err', 'req', 'res', 'responseTime']
const OF_REQUESTS = ['operation', 'person', 'personName', 'actor', 'signedIn']
/** From these levels on, a line begins with their name. */
const LEVELS = new Map<unknown, readonly [string, 'yellow' | 'red']>([
  [40, ['warning', 'yellow']],
  [50, ['error', 'red']],
  [60, ['fatal', 'red']],
])
/** Colors of status codes, by the first digit. */
const STATUS_COLORS = ['gray', 'gray', 'green', 'cyan', 'yellow', 'red'] as const

type Paint = (color: Parameters<typeof styleText>[0], text: string) => string

interface Line {
  level?: number
  time?: number
  msg?: unknown
  err?: ErrorDescription
  req?: { method?: string; path?: string }
  res?: { status?: number }
  responseTime?: number
  operation?: string
  personName?: string
}

/**
 * Rewrites a line of the log for a person at a terminal: `12:03:41 200 books.create Ada 6 ms`. Errors have their message, the
 * statement that failed, and the first line of their stack. Characters that control a terminal are replaced.
 */
export function toReadableLine(json: string, isColored: boolean): string {
  const line = JSON.parse(json) as Line
  const paint: Paint = (color, text) => (isColored ? styleText(color, text, { validateStream: false }) : text)
  const { time = 0, res, msg = '', err } = line
  const [level, color] = LEVELS.get(line.level) ?? []
  const words = [
    paint('gray', new Date(time).toTimeString().slice(0, 8)),
    ...(level && color ? [paint(color, level)] : []),
    ...(res ? wordsOfRequest(line, paint) : [terminalLine(String(msg))]),
    ...fieldsOf(line, res !== undefined).map((field) => paint('gray', field)),
  ]
  return `${words.filter(Boolean).join(' ')}\n${err ? linesOfError(err) : ''}`
}

function wordsOfRequest({ req, res, operation, personName = '', responseTime = 0 }: Line, paint: Paint) {
  const { status = 0 } = res ?? {}
  // Operations of the sign-in are paths, and have no other name.
  const isNamed = operation !== undefined && !operation.startsWith('/')
  return [
    paint(STATUS_COLORS[Math.floor(status / 100)] ?? 'gray', String(status)),
    isNamed ? operation : terminalLine(`${req?.method ?? ''} ${req?.path ?? ''}`),
    terminalLine(personName),
    paint('gray', `${responseTime} ms`),
  ]
}

const fieldsOf = (line: object, isOfRequest: boolean) =>
  Object.entries(line)
    .filter(([name]) => !SHOWN.includes(name) && !(isOfRequest && OF_REQUESTS.includes(name)))
    .map(
      ([name, value]) => `${name}=${terminalLine(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )

function linesOfError({ type, code, message, statement, stack, cause }: ErrorDescription): string {
  const [frame] = stack?.split('\n') ?? []
  const lines = [
    `${type}${code === undefined ? '' : ` ${code}`}${message === undefined ? '' : `: ${message}`}`,
    ...(statement === undefined ? [] : [statement]),
    ...(frame === undefined ? [] : [frame.trim()]),
  ].flatMap((text) => text.split('\n'))
  return `${lines.map((text) => `  ${terminalLine(text)}\n`).join('')}${cause ? linesOfError(cause) : ''}`
}
